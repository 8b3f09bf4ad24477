import type { FileQuery, FilesQuery } from '../../contract/workspaces/file.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { IdSource } from '../../kit/ids.ts';
import { isJsonObject, type Json } from '../../kit/json/json.ts';
import type {
  FileBytes,
  FilePosition,
  FileQuotas,
  FileStore,
  StoredFile,
} from '../../ports/content/files.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import type { WorkspaceStore } from '../../ports/tenancy/tenancy.ts';
import { notFound, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { requireWorkspaceId } from '../workspaces/require-workspace-id.ts';
import { FileIntake } from './file-intake.ts';
import { OpenUploads } from './open-uploads.ts';

export interface FilesDependencies {
  readonly store: FileStore;
  readonly bytes: FileBytes;
  readonly workspaces: Pick<WorkspaceStore, 'findWorkspaceById' | 'defaultWorkspaceOf'>;
  readonly sources: Pick<Sources, 'clock'>;
  readonly ids: IdSource;
  readonly quotas: () => FileQuotas;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  /** Leads to the next page; null on the last. */
  readonly cursor: string | null;
}

const DEFAULT_PAGE = 100;

const SWEEP_BATCH_IDS = 500;

/** Files of workspaces. Each operation acts for one caller; a file of another workspace is a 404. */
export class Files {
  readonly #dependencies: FilesDependencies;
  /** Open uploads: their content exists before their row, so a sweep must spare it. */
  readonly #open = new OpenUploads();

  constructor(dependencies: FilesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Begins an upload; the caller must `keep` or `discard` it. Throws 413 if a quota is used up. */
  async receive(caller: Caller, query: FileQuery): Promise<FileIntake> {
    requireNoProvider(query);
    const workspaceId = await this.#workspaceOf(caller, query);
    const { store, bytes, ids, sources, quotas } = this.#dependencies;
    const owner = {
      id: `file_${ids.token(24)}`,
      accountId: caller.accountId,
      workspaceId,
      keyHash: caller.key.hash,
    };
    const upload = this.#open.begin(owner.id, owner, await store.usageOf(owner), quotas());
    try {
      const incoming = await bytes.receive(owner.id);
      return new FileIntake(owner, { incoming, store, clock: sources.clock, upload, quotas });
    } catch (error) {
      upload.end();
      throw error;
    }
  }

  /** Oldest first. */
  async list(caller: Caller, query: FilesQuery): Promise<FilePage> {
    requireNoProvider(query);
    requireForward(query);
    const workspaceId = await this.#workspaceOf(caller, query);
    const limit = query.limit ?? DEFAULT_PAGE;
    const found = await this.#dependencies.store.list(workspaceId, {
      after: await this.#afterOf(workspaceId, query),
      limit: limit + 1,
    });
    const files = found.slice(0, limit);
    const last = files.at(-1);
    return { files, cursor: found.length > limit && last !== undefined ? encodePosition(last) : null };
  }

  async get(caller: Caller, id: string, query: FileQuery): Promise<StoredFile> {
    requireNoProvider(query);
    const workspaceId = await this.#workspaceOfFile(caller, query);
    return requireFound(await this.#dependencies.store.find(workspaceId, id));
  }

  async content(
    caller: Caller,
    id: string,
    query: FileQuery,
  ): Promise<{ readonly file: StoredFile; readonly content: AsyncIterable<Uint8Array> }> {
    const file = await this.get(caller, id, query);
    requireDownloadable(file);
    return { file, content: requireFound(await this.#dependencies.bytes.read(id)) };
  }

  /** Any file of the key's own workspace with its content, for the tools of a generation. */
  async read(
    caller: Caller,
    id: string,
    { isDownload = false }: { readonly isDownload?: boolean } = {},
  ): Promise<{ readonly file: StoredFile; readonly content: AsyncIterable<Uint8Array> }> {
    const { store, bytes } = this.#dependencies;
    const file = requireFound(await store.find(caller.workspaceId, id));
    if (isDownload) requireDownloadable(file);
    return { file, content: requireFound(await bytes.read(id)) };
  }

  /** Stores a file that the gateway made: its content can be downloaded. */
  async make(caller: Caller, filename: string, content: Uint8Array): Promise<StoredFile> {
    const intake = await this.receive(caller, {});
    try {
      await intake.write(content);
      return await intake.keep(filename, { isDownloadable: true });
    } catch (error) {
      await intake.discard();
      throw error;
    }
  }

  /** Deletes a file: its row first, so that no reader finds a row without content. */
  async delete(caller: Caller, id: string, query: FileQuery): Promise<void> {
    requireNoProvider(query);
    const workspaceId = await this.#workspaceOfFile(caller, query);
    const { store, bytes } = this.#dependencies;
    if (!(await store.delete(workspaceId, id))) throw notFound();
    await bytes.remove(id);
  }

  /**
   * Removes content without a row: after a crash between the two deletions, or when the file was deleted with its
   * workspace or by another gateway.
   */
  async sweep(): Promise<void> {
    const { store, bytes } = this.#dependencies;
    const ids = (await bytes.ids()).filter((id) => !this.#open.has(id));
    for (let index = 0; index < ids.length; index += SWEEP_BATCH_IDS) {
      const group = ids.slice(index, index + SWEEP_BATCH_IDS);
      const existing = await store.existing(group);
      for (const id of group) if (!existing.has(id)) await bytes.remove(id);
    }
  }

  async #afterOf(workspaceId: string, { cursor, page, after, after_id: afterId }: FilesQuery) {
    const given = Object.entries({ cursor, page, after, after_id: afterId }).filter(
      ([, value]) => value !== undefined,
    );
    const [first, second] = given;
    if (second !== undefined) {
      throw invalidRequest([{ path: second[0], message: `cannot be combined with ${first?.[0]}` }]);
    }
    const position = cursor ?? page;
    if (position !== undefined) return decodePosition(position, first?.[0] ?? 'cursor');
    const id = after ?? afterId;
    if (id === undefined) return undefined;
    const file = await this.#dependencies.store.find(workspaceId, id);
    if (file !== undefined) return file;
    throw invalidRequest([{ path: first?.[0] ?? 'after_id', message: 'there is no such file' }]);
  }

  /** The workspace of an operation: the key's own, or one that a management key names. */
  async #workspaceOf(caller: Caller, { workspace_id: given }: FileQuery): Promise<string> {
    if (given === undefined) return caller.workspaceId;
    const id = await requireWorkspaceId(this.#dependencies.workspaces, caller.accountId, given);
    if (id === caller.workspaceId || caller.key.isManagement) return id;
    throw new GatewayError('permission', 'workspace_id: the key is of another workspace');
  }

  /**
   * The workspace of a file, as `#workspaceOf` finds it; but an unknown workspace is "file not found", so
   * that callers cannot probe for workspaces.
   */
  async #workspaceOfFile(caller: Caller, query: FileQuery): Promise<string> {
    try {
      return await this.#workspaceOf(caller, query);
    } catch (error) {
      throw error instanceof GatewayError && error.kind === 'not-found' ? notFound() : error;
    }
  }
}

/** Throws 400 for an upload: models read it, and callers do not get it back. */
export function requireDownloadable({ isDownloadable }: StoredFile): void {
  if (isDownloadable) return;
  throw new GatewayError(
    'invalid-request',
    'file_id: the file was uploaded, and the content of uploaded files cannot be downloaded',
  );
}

function requireNoProvider({ provider }: FileQuery): void {
  if (provider === undefined) return;
  throw invalidRequest([
    { path: 'provider', message: 'is not supported: files are stored in this gateway, at no provider' },
  ]);
}

function requireForward({ before_id: beforeId, order }: FilesQuery): void {
  if (beforeId !== undefined) {
    throw invalidRequest([{ path: 'before_id', message: 'is not supported: use cursor or after_id' }]);
  }
  if (order === 'desc') {
    throw invalidRequest([
      { path: 'order', message: 'desc is not supported: files are listed oldest first' },
    ]);
  }
}

/** The cursor of a page, opaque to callers. It stays valid when its file is deleted. */
function encodePosition({ id, createdAtMs }: FilePosition): string {
  return Buffer.from(JSON.stringify({ cursor: id, created_at_ms: createdAtMs })).toString('base64url');
}

/** Decodes a cursor; `path` names its parameter. Throws 400 for any other text. */
function decodePosition(text: string, path: string): FilePosition {
  const value = parsed(Buffer.from(text, 'base64url').toString('utf8'));
  if (isJsonObject(value)) {
    const { cursor: id, created_at_ms: createdAtMs } = value;
    const isId = typeof id === 'string' && !id.includes('\0');
    if (isId && Number.isSafeInteger(createdAtMs)) return { id, createdAtMs: createdAtMs as number };
  }
  throw invalidRequest([{ path, message: 'must be the cursor of another page' }]);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Interval of sweeps, milliseconds. */
const SWEEP_EVERY_MS = 3_600_000;

/** Sweeps now and every hour. */
export function keepSwept(
  files: Pick<Files, 'sweep'>,
  log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void },
): { close(): Promise<void> } {
  const sweep = () =>
    files.sweep().catch((error: unknown) => {
      log.warn('content of deleted files could not be removed; it is tried again in an hour', { error });
    });
  let sweeping = sweep();
  const timer = setInterval(() => {
    sweeping = sweeping.then(sweep);
  }, SWEEP_EVERY_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      await sweeping;
    },
  };
}
