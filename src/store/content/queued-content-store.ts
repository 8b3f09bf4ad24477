import { weightOf } from '../../kit/json/stringify-sliced.ts';
import type { Log } from '../../kit/log/log.ts';
import { nextTurn } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type {
  ContentRetention,
  ContentStore,
  GenerationContent,
  StoredContent,
} from '../../ports/content/content.ts';
import { decodeContent, encodeContent } from './content-codec.ts';
import { type ContentPath, contentPath } from './content-path.ts';

/** Where content is, in folders by day. */
export interface ContentFiles {
  /** Bytes of everything counted so far. */
  readonly bytes: number;
  /** Counts what earlier processes, or other gateways, have written. */
  count(): Promise<void>;
  write(path: ContentPath, bytes: Uint8Array): Promise<void>;
  read(path: ContentPath): Promise<Buffer | undefined>;
  /** False when there is none. */
  remove(path: ContentPath): Promise<boolean>;
  /** Removes content that is too old, then the oldest above `maxBytes`. Call `count` first. */
  prune(retention: ContentRetention): Promise<void>;
}

/** Limits of the write queue. Content beyond them is dropped, so that a slow disk does not fill the memory. */
export interface QueueLimits {
  readonly generations: number;
  /** Approximate. */
  readonly characters: number;
}

const QUEUE_LIMITS: QueueLimits = { generations: 1_000, characters: 64 * 1024 * 1024 };

/** Minimum time between log messages about lost content. */
const REPORT_MS = 60_000;

export interface QueuedContentDependencies {
  readonly files: ContentFiles;
  /** Writes at the same time; one by default. */
  readonly writesAtOnce?: number;
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Clock;
  readonly queueLimits?: QueueLimits;
}

interface Waiting {
  readonly stored: StoredContent;
  readonly characters: number;
}

/** Compressed content, written in the background. */
export class QueuedContentStore implements ContentStore {
  readonly #files: ContentFiles;
  readonly #dependencies: QueuedContentDependencies;
  readonly #limits: QueueLimits;
  readonly #waiting = new Map<string, Waiting>();
  #characters = 0;
  /** Ids of the content that is being written, with their writes. */
  readonly #writes = new Map<string, Promise<void>>();
  readonly #writers = new Set<Promise<void>>();
  #counting: Promise<void> | undefined;
  #isClosed = false;
  #lost = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(dependencies: QueuedContentDependencies) {
    this.#dependencies = dependencies;
    this.#limits = dependencies.queueLimits ?? QUEUE_LIMITS;
    this.#files = dependencies.files;
  }

  put(stored: StoredContent): void {
    const characters = weightOf(stored.content, this.#limits.characters);
    const isFull =
      this.#waiting.size >= this.#limits.generations ||
      this.#characters + characters > this.#limits.characters;
    if (this.#waiting.has(stored.generationId)) return;
    if (this.#isClosed || isFull) {
      this.#reportLost('more is waiting to be written than there is room for');
      return;
    }
    this.#waiting.set(stored.generationId, { stored, characters });
    this.#characters += characters;
    this.#startWriter();
  }

  async get(accountId: string, generationId: string): Promise<GenerationContent | undefined> {
    const stored = this.#waiting.get(generationId)?.stored ?? (await this.#read(generationId));
    return stored?.accountId === accountId ? stored.content : undefined;
  }

  async delete(accountId: string, generationId: string): Promise<boolean> {
    const path = contentPath(generationId);
    if (path === undefined || (await this.get(accountId, generationId)) === undefined) return false;
    const wasWaiting = this.#dequeue(generationId) !== undefined;
    // It may be being written.
    await this.#writes.get(generationId);
    return (await this.#files.remove(path)) || wasWaiting;
  }

  async prune(retention: ContentRetention): Promise<number> {
    this.#counting ??= this.#files.count();
    try {
      await this.#counting;
    } catch (error) {
      this.#counting = undefined;
      throw error;
    }
    await this.#files.prune(retention);
    return this.#files.bytes;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#writers.size > 0) await Promise.all(this.#writers);
  }

  async #read(generationId: string): Promise<StoredContent | undefined> {
    const path = contentPath(generationId);
    const file = path && (await this.#files.read(path));
    const stored = file && (await decodeContent(file));
    return stored?.generationId === generationId ? stored : undefined;
  }

  #startWriter(): void {
    if (this.#writers.size >= (this.#dependencies.writesAtOnce ?? 1)) return;
    const writer = this.#writeAll().finally(() => this.#writers.delete(writer));
    this.#writers.add(writer);
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      // Requests go first.
      await nextTurn();
      const stored = this.#next();
      if (stored === undefined) return;
      const write = this.#write(stored);
      this.#writes.set(stored.generationId, write);
      await write;
      this.#writes.delete(stored.generationId);
      this.#dequeue(stored.generationId);
    }
  }

  /** The first content that waits and that no other writer has. */
  #next(): StoredContent | undefined {
    for (const [id, { stored }] of this.#waiting) if (!this.#writes.has(id)) return stored;
    return undefined;
  }

  async #write(stored: StoredContent): Promise<void> {
    const path = contentPath(stored.generationId);
    try {
      if (path === undefined) throw new Error('not an id of this gateway');
      await this.#files.write(path, await encodeContent(stored));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      this.#reportLost(code ?? message);
    }
  }

  #dequeue(generationId: string): Waiting | undefined {
    const waiting = this.#waiting.get(generationId);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(generationId);
    this.#characters -= waiting.characters;
    return waiting;
  }

  #reportLost(reason: string): void {
    this.#lost++;
    const now = this.#dependencies.clock.monotonic();
    if (now - this.#reportedAtMs < REPORT_MS) return;
    this.#reportedAtMs = now;
    this.#dependencies.log.warn('content of generations was not kept', { reason, generations: this.#lost });
    this.#lost = 0;
  }
}
