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

const WAITING_ROOM: QueueLimits = { generations: 1_000, characters: 64 * 1024 * 1024 };

/** Minimum time between log messages about lost content. */
const REPORT_MS = 60_000;

/** Dependencies of the store. */
export interface DiskContentParts {
  /** Created with the first write. */
  readonly directory: string;
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Clock;
  readonly waitingRoom?: QueueLimits;
}

interface Waiting {
  readonly stored: StoredContent;
  readonly characters: number;
}

/** Content in compressed files, written one after another in the background. */
export class DiskContentStore implements ContentStore {
  readonly #folders: ContentFolders;
  readonly #parts: DiskContentParts;
  readonly #room: QueueLimits;
  readonly #waiting = new Map<string, Waiting>();
  #characters = 0;
  #writing: Promise<void> | undefined;
  #file: Promise<void> | undefined;
  #counting: Promise<void> | undefined;
  #isClosed = false;
  #lost = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: DiskContentParts) {
    this.#parts = parts;
    this.#room = parts.waitingRoom ?? WAITING_ROOM;
    this.#folders = new ContentFolders(parts.directory);
  }

  put(stored: StoredContent): void {
    const characters = weightOf(stored.content, this.#room.characters);
    const isFull =
      this.#waiting.size >= this.#room.generations || this.#characters + characters > this.#room.characters;
    if (this.#waiting.has(stored.generationId)) return;
    if (this.#isClosed || isFull) {
      this.#lose('more is waiting to be written than there is room for');
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
    const place = contentPath(generationId);
    if (place === undefined || (await this.get(accountId, generationId)) === undefined) return false;
    const wasWaiting = this.#take(generationId) !== undefined;
    // Its file may be being written.
    await this.#file;
    return (await this.#folders.remove(place)) || wasWaiting;
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
    const place = contentPath(generationId);
    const file = place && (await this.#folders.read(place));
    const stored = file && (await decodeContent(file));
    return stored?.generationId === generationId ? stored : undefined;
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      // Requests go first.
      await nextTurn();
      const next = this.#waiting.values().next().value;
      if (next === undefined) break;
      this.#file = this.#write(next.stored);
      await this.#file;
      this.#take(next.stored.generationId);
    }
    this.#writing = undefined;
  }

  async #write(stored: StoredContent): Promise<void> {
    const place = contentPath(stored.generationId);
    try {
      if (place === undefined) throw new Error('not an id of this gateway');
      await this.#folders.write(place, await encodeContent(stored));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      this.#lose(code ?? message);
    }
  }

  #take(generationId: string): Waiting | undefined {
    const taken = this.#waiting.get(generationId);
    if (taken === undefined) return undefined;
    this.#waiting.delete(generationId);
    this.#characters -= taken.characters;
    return taken;
  }

  #lose(reason: string): void {
    this.#lost++;
    const now = this.#parts.clock.monotonic();
    if (now - this.#reportedAtMs < REPORT_MS) return;
    this.#reportedAtMs = now;
    this.#parts.log.warn('content of generations was not kept', { reason, generations: this.#lost });
    this.#lost = 0;
  }
}
