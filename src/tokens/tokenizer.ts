import { type CountingThread, openCountingThread } from './counting-thread.ts';
import { charactersOf, SLICE_CHARACTERS, slicesOf } from './text-slices.ts';

export interface Tokenizer {
  /**
   * Tokens of all texts together. Long texts are sampled, and the rest is estimated if counting takes too long. Rejects
   * only with the reason of `signal`.
   */
  count(texts: readonly string[], signal?: AbortSignal): Promise<number>;
  /** Settles open counts with an estimate. */
  close(): Promise<void>;
}

/** Longer texts are sampled. */
const MAX_COUNTED_CHARACTERS = 200_000;

/** Queue limit; above it only one slice of each further job is counted. */
const MAX_QUEUED_CHARACTERS = 4_000_000;

/** A count that takes longer becomes an estimate, milliseconds. */
const COUNT_TIMEOUT_MS = 5_000;

/** Estimate if nothing could be counted. */
const BYTES_PER_TOKEN = 4;

export interface TokenizerDependencies {
  readonly thread?: CountingThread;
  readonly patienceMs?: number;
}

/**
 * Schedules jobs fairly: the jobs with the least progress go next, several short ones in one message, because a
 * message to the thread costs more than counting a short text.
 */
export function createTokenizer(dependencies: TokenizerDependencies = {}): Tokenizer {
  const { thread = openCountingThread(), patienceMs = COUNT_TIMEOUT_MS } = dependencies;
  const open = new Set<CountJob>();
  let isWorking = false;
  let isClosed = false;

  const work = async () => {
    if (isWorking) return;
    isWorking = true;
    for (let next = leastCounted(open); next.length > 0; next = leastCounted(open)) {
      const slices = next.map((job) => job.nextSlice());
      const counts = await thread.count(slices).catch(() => undefined);
      for (const [index, job] of next.entries()) {
        const tokens = counts?.[index];
        if (tokens !== undefined) job.add(slices[index] ?? [], tokens);
        if (tokens === undefined || job.isCounted) job.settle();
      }
    }
    isWorking = false;
  };

  return {
    count(texts, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const waiting = [...open].reduce((sum, job) => sum + job.waiting, 0);
        const most = Math.min(
          MAX_COUNTED_CHARACTERS,
          Math.max(SLICE_CHARACTERS, MAX_QUEUED_CHARACTERS - waiting),
        );
        const leave = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          open.delete(job);
        };
        const giveUp = () => {
          leave();
          reject(signal?.reason);
        };
        const job = new CountJob(texts, most, (tokens) => {
          leave();
          resolve(tokens);
        });
        const timer = setTimeout(() => job.settle(), patienceMs);
        signal?.addEventListener('abort', giveUp, { once: true });
        if (isClosed || job.isCounted) return job.settle();
        open.add(job);
        void work();
      });
    },
    async close() {
      isClosed = true;
      for (const job of [...open]) job.settle();
      await thread.close();
    },
  };
}

class CountJob {
  readonly #texts: readonly string[];
  readonly #slices: readonly string[][];
  readonly #answer: (tokens: number) => void;
  #next = 0;
  #tokens = 0;
  counted = 0;
  waiting: number;

  constructor(texts: readonly string[], most: number, answer: (tokens: number) => void) {
    this.#texts = texts;
    this.#slices = slicesOf(texts, most);
    this.#answer = answer;
    this.waiting = this.#slices.reduce((sum, slice) => sum + charactersOf(slice), 0);
  }

  get isCounted(): boolean {
    return this.#next >= this.#slices.length;
  }

  nextSlice(): readonly string[] {
    return this.#slices[this.#next] ?? [];
  }

  add(slice: readonly string[], tokens: number): void {
    const characters = charactersOf(slice);
    this.#next++;
    this.#tokens += tokens;
    this.counted += characters;
    this.waiting -= characters;
  }

  /** Resolves with the count, scaled up to all characters. */
  settle(): void {
    this.#answer(Math.ceil(this.counted === 0 ? this.#guess() : this.#tokens * this.#scale()));
  }

  #scale(): number {
    return charactersOf(this.#texts) / this.counted;
  }

  #guess(): number {
    const bytes = this.#texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    return bytes / BYTES_PER_TOKEN;
  }
}

/** The jobs with the least progress, as many as fill one slice, at least one. */
function leastCounted(jobs: ReadonlySet<CountJob>): CountJob[] {
  let least = Number.POSITIVE_INFINITY;
  for (const { counted } of jobs) least = Math.min(least, counted);
  const together: CountJob[] = [];
  let characters = 0;
  for (const job of jobs) {
    if (job.counted > least) continue;
    characters += charactersOf(job.nextSlice());
    if (together.length > 0 && characters > SLICE_CHARACTERS) break;
    together.push(job);
  }
  return together;
}
