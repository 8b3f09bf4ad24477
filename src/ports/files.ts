/** What is known of a file that somebody stored. */
export interface StoredFile {
  /** `file_` and 24 characters that nobody can guess. */
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly filename: string;
  /** Told from the content, never from the name. */
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Whether its content may be fetched: that of what the gateway made itself, not of what was uploaded. */
  readonly isDownloadable: boolean;
  readonly createdAtMs: number;
}

/** A place in the list of files, which is in the order of their creation. */
export type FilePosition = Pick<StoredFile, 'id' | 'createdAtMs'>;

/** What is known of files. Each question is about one workspace: what is in another is not there. */
export interface FileStore {
  insert(file: StoredFile): Promise<void>;
  find(workspaceId: string, id: string): Promise<StoredFile | undefined>;
  /** Oldest first, from behind a position on. */
  list(
    workspaceId: string,
    page: { readonly after?: FilePosition | undefined; readonly limit: number },
  ): Promise<StoredFile[]>;
  /** False when there is none. */
  delete(workspaceId: string, id: string): Promise<boolean>;
  /** Those of the ids that belong to a file of any workspace. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** The content of a file while it comes in. Nobody sees it before it is kept. */
export interface IncomingBytes {
  /** Resolves when the next piece may follow. */
  write(piece: Uint8Array): Promise<void>;
  /** Makes what was written last, under the id that it was begun with. */
  keep(): Promise<void>;
  /** Leaves nothing behind. To be called once instead of `keep`, or after it failed. */
  discard(): Promise<void>;
}

/** The content of files, by their ids. */
export interface FileBytes {
  receive(id: string): Promise<IncomingBytes>;
  /** Undefined when there is none. */
  read(id: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Does nothing where there is none. */
  remove(id: string): Promise<void>;
  /** Of everything that is kept. */
  ids(): Promise<string[]>;
}
