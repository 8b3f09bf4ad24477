/** An uploaded file, without its content. */
export interface StoredFile {
  /** `file_` and 24 random characters. */
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** The key that stored it; null = it was stored by a release that did not note keys. */
  readonly keyHash: string | null;
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

/** Levels at which stored files are counted and limited, narrowest first. */
export const FILE_SCOPES = ['key', 'workspace', 'account'] as const;

export type FileScope = (typeof FILE_SCOPES)[number];

/** Whose files count together with one. */
export type FileOwner = Pick<StoredFile, 'accountId' | 'workspaceId' | 'keyHash'>;

export interface FileUsage {
  readonly bytes: number;
  readonly files: number;
}

/** How much may be stored; null = no limit. */
export type FileQuotas = Readonly<Record<FileScope, { readonly [Unit in keyof FileUsage]: number | null }>>;

export interface PassedQuota {
  readonly scope: FileScope;
  readonly unit: keyof FileUsage;
  readonly limit: number;
  /** What is stored already, without the upload. */
  readonly used: number;
}

/** The first quota that is passed by what is stored and something more; undefined = none. */
export function passedQuota(
  usage: Readonly<Record<FileScope, FileUsage>>,
  more: FileUsage,
  quotas: FileQuotas,
): PassedQuota | undefined {
  for (const scope of FILE_SCOPES) {
    for (const unit of ['bytes', 'files'] as const) {
      const limit = quotas[scope][unit];
      const used = usage[scope][unit];
      if (limit !== null && used + more[unit] > limit) return { scope, unit, limit, used };
    }
  }
  return undefined;
}

/** Storage of file rows. Each call but those about quotas sees one workspace only. */
export interface FileStore {
  /** Returns the quota that forbids the file; undefined = it is stored. Racing calls never pass a quota together. */
  insert(file: StoredFile, quotas: FileQuotas): Promise<PassedQuota | undefined>;
  usageOf(owner: FileOwner): Promise<Readonly<Record<FileScope, FileUsage>>>;
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

export interface FileBytes {
  receive(id: string): Promise<IncomingBytes>;
  read(id: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Does nothing when there is none. */
  remove(id: string): Promise<void>;
  /** Ids of all stored contents, without those that another gateway may be storing right now. */
  ids(): Promise<string[]>;
}
