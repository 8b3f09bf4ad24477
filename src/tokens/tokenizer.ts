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

/**
 * A tokenizer that counts in turns: of all questions those of which least was counted come next, as many of them together as
 * make a slice. To ask another thread costs more than to count a short text.
 */
export function createTokenizer(parts: TokenizerParts = {}): Tokenizer {
  const { thread = openCountingThread(), patienceMs = PATIENCE_MS } = parts;
  const open = new Set<Question>();
  let isWorking = false;
  let isClosed = false;

  const work = async () => {
    if (isWorking) return;
    isWorking = true;
    for (let next = leastCounted(open); next.length > 0; next = leastCounted(open)) {
      const slices = next.map((question) => question.nextSlice());
      const counts = await thread.count(slices).catch(() => undefined);
      for (const [index, question] of next.entries()) {
        const tokens = counts?.[index];
        if (tokens !== undefined) question.add(slices[index] ?? [], tokens);
        if (tokens === undefined || question.isCounted) question.settle();
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

/** Of the questions that are least counted as many as make a slice together, and at least one. */
function leastCounted(questions: ReadonlySet<Question>): Question[] {
  let least = Number.POSITIVE_INFINITY;
  for (const { counted } of questions) least = Math.min(least, counted);
  const together: Question[] = [];
  let characters = 0;
  for (const question of questions) {
    if (question.counted > least) continue;
    characters += charactersOf(question.nextSlice());
    if (together.length > 0 && characters > SLICE_CHARACTERS) break;
    together.push(question);
  }
  return together;
}
