import { weightOf } from '../../kit/json/stringify-sliced.ts';
import type { Log } from '../../kit/log/log.ts';
import { nextTurn } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type {
  ContentRetention,
  ContentStore,
  GenerationContent,
  StoredContent,
} from '../../ports/content.ts';
import { decodeContent, encodeContent } from './content-codec.ts';
import { ContentFolders } from './content-folders.ts';
import { contentPath } from './content-path.ts';

/** Limits of the write queue. Content beyond them is dropped, so that a slow disk does not fill the memory. */
export interface QueueLimits {
  readonly generations: number;
  /** Approximate. */
  readonly characters: number;
}

const QUEUE_LIMITS: QueueLimits = { generations: 1_000, characters: 64 * 1024 * 1024 };

/** Minimum time between log messages about lost content. */
const REPORT_MS = 60_000;

/** Dependencies of the store. */
export interface DiskContentDependencies {
  /** Created with the first write. */
  readonly directory: string;
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Clock;
  readonly queueLimits?: QueueLimits;
}

interface Waiting {
  readonly stored: StoredContent;
  readonly characters: number;
}

/** Content in compressed files, written one after another in the background. */
export class DiskContentStore implements ContentStore {
  readonly #folders: ContentFolders;
  readonly #dependencies: DiskContentDependencies;
  readonly #limits: QueueLimits;
  readonly #waiting = new Map<string, Waiting>();
  #characters = 0;
  #writing: Promise<void> | undefined;
  #fileWrite: Promise<void> | undefined;
  #counting: Promise<void> | undefined;
  #isClosed = false;
  #lost = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(dependencies: DiskContentDependencies) {
    this.#dependencies = dependencies;
    this.#limits = dependencies.queueLimits ?? QUEUE_LIMITS;
    this.#folders = new ContentFolders(dependencies.directory);
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
    this.#writing ??= this.#writeAll();
  }

  async get(accountId: string, generationId: string): Promise<GenerationContent | undefined> {
    const stored = this.#waiting.get(generationId)?.stored ?? (await this.#read(generationId));
    return stored?.accountId === accountId ? stored.content : undefined;
  }

  async delete(accountId: string, generationId: string): Promise<boolean> {
    const path = contentPath(generationId);
    if (path === undefined || (await this.get(accountId, generationId)) === undefined) return false;
    const wasWaiting = this.#dequeue(generationId) !== undefined;
    // Its file may be being written.
    await this.#fileWrite;
    return (await this.#folders.remove(path)) || wasWaiting;
  }

  async prune(retention: ContentRetention): Promise<number> {
    this.#counting ??= this.#folders.count();
    try {
      await this.#counting;
    } catch (error) {
      this.#counting = undefined;
      throw error;
    }
    await this.#folders.prune(retention);
    return this.#folders.bytes;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }

  async #read(generationId: string): Promise<StoredContent | undefined> {
    const path = contentPath(generationId);
    const file = path && (await this.#folders.read(path));
    const stored = file && (await decodeContent(file));
    return stored?.generationId === generationId ? stored : undefined;
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      // Requests go first.
      await nextTurn();
      const next = this.#waiting.values().next().value;
      if (next === undefined) break;
      this.#fileWrite = this.#write(next.stored);
      await this.#fileWrite;
      this.#dequeue(next.stored.generationId);
    }
    this.#writing = undefined;
  }

  async #write(stored: StoredContent): Promise<void> {
    const path = contentPath(stored.generationId);
    try {
      if (path === undefined) throw new Error('not an id of this gateway');
      await this.#folders.write(path, await encodeContent(stored));
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
