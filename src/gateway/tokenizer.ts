import { type CountingThread, openCountingThread } from './counting-thread.ts';
import { charactersOf, SLICE_CHARACTERS, slicesOf } from './text-slices.ts';

/** Counts tokens of plain text. */
export interface Tokenizer {
  /**
   * Tokens of all the texts together. Of very long texts a sample is counted, and what cannot be counted in time is
   * estimated: it rejects with the reason of `signal` only.
   */
  count(texts: readonly string[], signal?: AbortSignal): Promise<number>;
  /** Ends the counts that are under way with an estimate. */
  close(): Promise<void>;
}

/** Characters that are counted for one question at most; the rest is taken to be like them. */
const COUNTED_CHARACTERS = 200_000;

/** Characters that may wait to be counted. When there are more, only a slice of each further question is counted. */
const WAITING_CHARACTERS = 4_000_000;

/** Nobody waits longer for a count, milliseconds. */
const PATIENCE_MS = 5_000;

/** Bytes of a token where nothing could be counted. */
const BYTES_PER_TOKEN = 4;

/** What a tokenizer may be built with instead. */
export interface TokenizerParts {
  readonly thread?: CountingThread;
  readonly patienceMs?: number;
}

/** A tokenizer that counts in turns: of all questions the one of which least was counted comes next. */
export function createTokenizer(parts: TokenizerParts = {}): Tokenizer {
  const { thread = openCountingThread(), patienceMs = PATIENCE_MS } = parts;
  const open = new Set<Question>();
  let isWorking = false;
  let isClosed = false;

  const work = async () => {
    if (isWorking) return;
    isWorking = true;
    for (let next = leastCounted(open); next !== undefined; next = leastCounted(open)) {
      try {
        const slice = next.nextSlice();
        next.add(slice, await thread.count(slice));
        if (next.isCounted) next.settle();
      } catch {
        next.settle();
      }
    }
    isWorking = false;
  };

  return {
    count(texts, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const waiting = [...open].reduce((sum, question) => sum + question.waiting, 0);
        const most = Math.min(COUNTED_CHARACTERS, Math.max(SLICE_CHARACTERS, WAITING_CHARACTERS - waiting));
        const leave = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          open.delete(question);
        };
        const giveUp = () => {
          leave();
          reject(signal?.reason);
        };
        const question = new Question(texts, most, (tokens) => {
          leave();
          resolve(tokens);
        });
        const timer = setTimeout(() => question.settle(), patienceMs);
        signal?.addEventListener('abort', giveUp, { once: true });
        if (isClosed || question.isCounted) return question.settle();
        open.add(question);
        void work();
      });
    },
    async close() {
      isClosed = true;
      for (const question of [...open]) question.settle();
      await thread.close();
    },
  };
}

/** Texts that somebody wants counted, and how far that has come. */
class Question {
  readonly #texts: readonly string[];
  readonly #slices: readonly string[][];
  readonly #answer: (tokens: number) => void;
  #next = 0;
  #tokens = 0;
  /** Characters that were counted. */
  counted = 0;
  /** Characters that are still to be counted. */
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

  /** Answers with what was counted, and for the rest with what that makes likely. */
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

function leastCounted(questions: Iterable<Question>): Question | undefined {
  let least: Question | undefined;
  for (const question of questions) {
    if (least === undefined || question.counted < least.counted) least = question;
  }
  return least;
}
