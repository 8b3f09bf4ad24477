import { readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RecentMap } from '../../kit/collections/recent-map.ts';
import type { Log } from '../../kit/log/log.ts';
import type { CachedAnswer, ResponseCache } from '../../ports/content/response-cache.ts';
import { makeDirectory } from '../directory/atomic-files.ts';
import { OutageLog } from '../outage-log.ts';

export interface CacheBounds {
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Longer answers are not cached. */
  readonly answerBytes: number;
  readonly files: number;
}

const MEBIBYTE = 1024 * 1024;

const BOUNDS: CacheBounds = {
  memoryBytes: 32 * MEBIBYTE,
  diskBytes: 512 * MEBIBYTE,
  answerBytes: 4 * MEBIBYTE,
  files: 50_000,
};

/** A file as known without reading it. */
interface CachedFile {
  readonly bytes: number;
  /** Epoch milliseconds. Also the file's mtime, so that a start need not read the file. */
  readonly expiresAtMs: number;
}

const EXTENSION = '.json';
const DRAFT = '.draft';

/**
 * One file per answer in the data directory, the most recently used ones also in memory. Without a working disk the
 * memory alone serves; no problem here delays or fails a request.
 */
export class DiskResponseCache implements ResponseCache {
  readonly #directory: string;
  readonly #bounds: CacheBounds;
  readonly #memory: RecentMap<string, string>;
  /** Cached files by key, the oldest first. */
  readonly #files = new Map<string, CachedFile>();
  #bytes = 0;
  /** Tail of the queue of file operations. */
  #queue: Promise<void>;
  readonly #outage: OutageLog;

  constructor(directory: string, log: Pick<Log, 'warn'>, bounds: CacheBounds = BOUNDS) {
    this.#directory = directory;
    this.#outage = new OutageLog((message, fields) => log.warn(message, fields), {
      begins: 'the response cache cannot be written to its disk; answers are kept in memory alone',
      ends: 'the response cache can be written to its disk again',
      place: { path: directory },
    });
    this.#bounds = bounds;
    this.#memory = new RecentMap(Number.POSITIVE_INFINITY, {
      maxSize: () => bounds.memoryBytes,
      sizeOf: (text) => text.length,
    });
    this.#queue = this.#indexFiles();
  }

  async find(key: string, nowMs: number): Promise<CachedAnswer | undefined> {
    const text = this.#memory.get(key) ?? (await this.#read(key));
    const cached = text === undefined ? undefined : parse(text);
    if (cached === undefined) return undefined;
    const isExpired = nowMs >= expiryOf(cached) || nowMs < cached.storedAtMs - CLOCK_SLACK_MS;
    if (!isExpired) {
      if (text !== undefined) this.#memory.set(key, text);
      return cached;
    }
    await this.forget(key);
    return undefined;
  }

  keep(key: string, cached: CachedAnswer): void {
    const text = JSON.stringify(cached);
    if (text.length > this.#bounds.answerBytes) return;
    this.#memory.set(key, text);
    void this.#enqueue(() => this.#write(key, text, expiryOf(cached)));
  }

  async forget(key: string): Promise<void> {
    this.#memory.delete(key);
    await this.#enqueue(() => this.#remove(key));
  }

  /** Resolves when all queued answers are written. */
  async close(): Promise<void> {
    await this.#queue;
  }

  /** Indexes the files of earlier processes, and removes expired ones. */
  async #indexFiles(): Promise<void> {
    const names = await readdir(this.#directory).catch(() => []);
    const found: [string, CachedFile][] = [];
    for (const name of names) {
      const path = join(this.#directory, name);
      const stats = await stat(path).catch(() => undefined);
      if (stats === undefined) continue;
      const expiresAtMs = stats.mtimeMs;
      if (!name.endsWith(EXTENSION) || expiresAtMs <= Date.now()) await unlink(path).catch(() => {});
      else found.push([name.slice(0, -EXTENSION.length), { bytes: stats.size, expiresAtMs }]);
    }
    for (const [key, kept] of found.sort(([, one], [, other]) => one.expiresAtMs - other.expiresAtMs)) {
      this.#note(key, kept);
    }
    await this.#makeRoom();
  }

  /** Queues file operations, so that the last one on a key wins. */
  #enqueue(step: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(step).then(
      () => this.#outage.worked(),
      (error: unknown) => this.#outage.failed(error),
    );
    return this.#queue;
  }

  async #read(key: string): Promise<string | undefined> {
    // Wait for queued writes and removals.
    await this.#queue;
    if (!this.#files.has(key)) return undefined;
    return readFile(this.#pathOf(key), 'utf8').catch(() => undefined);
  }

  async #write(key: string, text: string, expiresAtMs: number): Promise<void> {
    makeDirectory(this.#directory);
    const path = this.#pathOf(key);
    const draft = `${path}${DRAFT}`;
    await writeFile(draft, text, { mode: 0o600 });
    await utimes(draft, expiresAtMs / 1000, expiresAtMs / 1000);
    await rename(draft, path);
    this.#note(key, { bytes: Buffer.byteLength(text), expiresAtMs });
    await this.#makeRoom();
  }

  async #makeRoom(): Promise<void> {
    const { diskBytes, files } = this.#bounds;
    for (const key of this.#files.keys()) {
      if (this.#bytes <= diskBytes && this.#files.size <= files) return;
      await this.#remove(key);
    }
  }

  async #remove(key: string): Promise<void> {
    const kept = this.#files.get(key);
    if (kept === undefined) return;
    this.#files.delete(key);
    this.#bytes -= kept.bytes;
    await unlink(this.#pathOf(key)).catch(() => {});
  }

  #note(key: string, kept: CachedFile): void {
    this.#bytes += kept.bytes - (this.#files.get(key)?.bytes ?? 0);
    this.#files.delete(key);
    this.#files.set(key, kept);
  }

  #pathOf(key: string): string {
    return join(this.#directory, `${key}${EXTENSION}`);
  }
}

/**
 * An answer stored further in the future than this counts as expired: the clock was set back, and its age is unknown.
 */
const CLOCK_SLACK_MS = 60_000;

function expiryOf({ storedAtMs, ttlSeconds }: CachedAnswer): number {
  return storedAtMs + ttlSeconds * 1000;
}

function parse(text: string): CachedAnswer | undefined {
  try {
    return JSON.parse(text) as CachedAnswer;
  } catch {
    return undefined;
  }
}
