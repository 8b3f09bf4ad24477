import { RecentMap } from '../../kit/collections/recent-map.ts';

const REMEMBERED_ANSWERS = 16;

/** Pairs of key and model that are remembered, the most recently used. */
const MAX_LEARNT_PAIRS = 20_000;

/** Map key: API key and model. */
export type Answers = string & { readonly names: 'answers' };

export function answersOf(keyHash: string, modelId: string): Answers {
  return `${keyHash}\n${modelId}` as Answers;
}

export interface Learnt {
  readonly longest: number;
  /** Highest ratio of an upstream's prompt count to ours; undefined = no prompt was counted. */
  readonly promptRatio: number | undefined;
}

/** An answer that ended by itself. */
export interface LearntAnswer {
  readonly outputTokens: number;
  readonly promptRatio?: number | undefined;
}

/** Stands for the ratio of an answer whose prompt was not counted. */
const UNCOUNTED = -1;

/** The last answers of a model to a key, as numbers only: there may be very many of these. */
class LastAnswers {
  readonly #outputTokens: number[] = [];
  readonly #promptRatios: number[] = [];
  #next = 0;

  add({ outputTokens, promptRatio = UNCOUNTED }: LearntAnswer): void {
    this.#outputTokens[this.#next] = outputTokens;
    this.#promptRatios[this.#next] = promptRatio;
    this.#next = (this.#next + 1) % REMEMBERED_ANSWERS;
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

/** Lengths of recent answers, by which reservations are sized. Not kept across restarts. */
export class LearntLengths {
  readonly #last = new RecentMap<Answers, LastAnswers>(MAX_LEARNT_PAIRS);

  learn(answers: Answers, answer: LearntAnswer): void {
    let last = this.#last.get(answers);
    if (last === undefined) {
      last = new LastAnswers();
      this.#last.set(answers, last);
    }
    last.add(answer);
  }

  /** Undefined if there were no answers yet. */
  of(answers: Answers): Learnt | undefined {
    return this.#last.get(answers)?.learnt;
  }
}
