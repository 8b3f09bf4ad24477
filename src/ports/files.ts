/** An uploaded file, without its content. */
export interface StoredFile {
  /** `file_` and 24 random characters. */
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly filename: string;
  /** Detected from the content, never from the name. */
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Whether its content may be fetched: true for files that the gateway made, false for uploads. */
  readonly isDownloadable: boolean;
  readonly createdAtMs: number;
}

/** A place in the list of files, which is in the order of their creation. */
export type FilePosition = Pick<StoredFile, 'id' | 'createdAtMs'>;

/** Storage of file rows. Each call sees one workspace only. */
export interface FileStore {
  insert(file: StoredFile): Promise<void>;
  find(workspaceId: string, id: string): Promise<StoredFile | undefined>;
  /** Oldest first, starting after a position. */
  list(
    workspaceId: string,
    page: { readonly after?: FilePosition | undefined; readonly limit: number },
  ): Promise<StoredFile[]>;
  /** False when there is none. */
  delete(workspaceId: string, id: string): Promise<boolean>;
  /** The ids among these that belong to a file of any workspace. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** The content of a file during its upload. Readers do not see it before `keep`. */
export interface IncomingBytes {
  /** Resolves when the next piece may follow. */
  write(piece: Uint8Array): Promise<void>;
  /** Publishes what was written under its id, durably. */
  keep(): Promise<void>;
  /** Removes everything. Call it once instead of `keep`, or after `keep` failed. */
  discard(): Promise<void>;
}

/** The content of files, by their ids. */
export interface FileBytes {
  receive(id: string): Promise<IncomingBytes>;
  /** Undefined when there is none. */
  read(id: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Does nothing when there is none. */
  remove(id: string): Promise<void>;
  /** Ids of all stored contents, without those that another gateway may be storing right now. */
  ids(): Promise<string[]>;
}
