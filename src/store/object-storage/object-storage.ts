export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  readonly storedAtMs: number;
}

export interface ObjectRange {
  readonly bytes: Buffer;
  /** Bytes of the whole object. */
  readonly totalBytes: number;
  /** Changes when the object is replaced. */
  readonly version: string;
}

/** The storage does not answer, or refuses: a retry may help later. */
export class ObjectStorageUnavailable extends Error {
  /** Code of the system (`ECONNREFUSED`), or that of the storage (`AccessDenied`). */
  readonly code: string;
  /** Status of the storage's answer; undefined without one. */
  readonly status: number | undefined;

  /** Whether the storage answered that it will not do this: a setting or the rights of the key are wrong. */
  readonly isRefusal: boolean;

  constructor(
    message: string,
    code: string,
    answer?: { readonly status: number; readonly isRefusal: boolean },
  ) {
    super(message);
    this.name = 'ObjectStorageUnavailable';
    this.code = code;
    this.status = answer?.status;
    this.isRefusal = answer?.isRefusal ?? false;
  }
}

/**
 * Objects by key: letters, digits and `-._/`. Each call is repeated a few times before it rejects with
 * ObjectStorageUnavailable.
 */
export interface ObjectStorage {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** At most `length` bytes from a position; undefined when there is no such object. */
  read(key: string, from: number, length: number, version?: string): Promise<ObjectRange | undefined>;
  /** Does nothing when there is none. */
  remove(key: string): Promise<void>;
  /** Objects whose key begins with a prefix, in the order of their keys. */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** Begins an object that is written in parts, which no reader sees before `complete`. */
  beginParts(key: string): Promise<ObjectParts>;
  close(): void;
}

/** An object that is being written in parts. Every part but the last has at least 5 MiB. */
export interface ObjectParts {
  add(bytes: Uint8Array): Promise<void>;
  complete(): Promise<void>;
  abort(): Promise<void>;
}
