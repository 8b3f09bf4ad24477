import { LRUCache } from 'lru-cache';

/** Answers that are remembered of each key and model. */
const REMEMBERED = 16;

/** Pairs that are remembered, those that were used last. */
const MAX_LEARNT_PAIRS = 20_000;

/** Whose answers, of which model: a name of them all. */
export type Answers = string & { readonly names: 'answers' };

/** The answers that a key has from a model. */
export function answersOf(keyHash: string, modelId: string): Answers {
  return `${keyHash}\n${modelId}` as Answers;
}

/** What is known of the last answers. */
export interface Learnt {
  /** Tokens of the longest. */
  readonly longest: number;
  /** How many times our own count upstreams counted of prompts, at most; undefined where they were not counted. */
  readonly promptRatio: number | undefined;
}

/** An answer that ended by itself. */
export interface LearntAnswer {
  readonly outputTokens: number;
  readonly promptRatio?: number | undefined;
}

/** Stands for the ratio of an answer whose prompt was not counted. */
const UNCOUNTED = -1;

/** The last answers of a key from a model, as numbers alone: there may be very many, and each ends in one of these. */
class LastAnswers {
  readonly #outputTokens: number[] = [];
  readonly #promptRatios: number[] = [];
  #next = 0;

  add({ outputTokens, promptRatio = UNCOUNTED }: LearntAnswer): void {
    this.#outputTokens[this.#next] = outputTokens;
    this.#promptRatios[this.#next] = promptRatio;
    this.#next = (this.#next + 1) % REMEMBERED;
  }

  get learnt(): Learnt {
    const ratio = largest(this.#promptRatios, UNCOUNTED);
    return {
      longest: largest(this.#outputTokens, 0),
      promptRatio: ratio === UNCOUNTED ? undefined : ratio,
    };
  }
}

function largest(numbers: readonly number[], least: number): number {
  let found = least;
  for (const number of numbers) if (number > found) found = number;
  return found;
}

/** How long answers have been lately: what reservations are sized by. Forgotten with the process. */
export class LearntLengths {
  readonly #last = new LRUCache<Answers, LastAnswers>({ max: MAX_LEARNT_PAIRS });

  learn(answers: Answers, answer: LearntAnswer): void {
    let last = this.#last.get(answers);
    if (last === undefined) {
      last = new LastAnswers();
      this.#last.set(answers, last);
    }
    last.add(answer);
  }

  /** Undefined when nothing is known. */
  of(answers: Answers): Learnt | undefined {
    return this.#last.get(answers)?.learnt;
  }
}
