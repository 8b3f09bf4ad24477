import { LRUCache } from 'lru-cache';

/** Answers that are remembered of each key and model. */
const REMEMBERED = 16;

/** Pairs that are remembered, those that were used last. */
const MOST_PAIRS = 20_000;

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
  /** How many times our own count upstreams counted of prompts, at most; undefined where nobody counted. */
  readonly promptRatio: number | undefined;
}

/** An answer that ended by itself. */
export interface LearntAnswer {
  readonly outputTokens: number;
  readonly promptRatio?: number | undefined;
}

/** How long answers have been lately: what reservations are sized by. Forgotten with the process. */
export class LearntLengths {
  readonly #recent = new LRUCache<Answers, LearntAnswer[]>({ max: MOST_PAIRS });

  learn(answers: Answers, answer: LearntAnswer): void {
    const recent = this.#recent.get(answers);
    if (recent === undefined) this.#recent.set(answers, [answer]);
    else if (recent.push(answer) > REMEMBERED) recent.shift();
  }

  /** Undefined when nothing is known. */
  of(answers: Answers): Learnt | undefined {
    const recent = this.#recent.get(answers);
    if (recent === undefined) return undefined;
    let longest = 0;
    let highest: number | undefined;
    for (const { outputTokens, promptRatio } of recent) {
      if (outputTokens > longest) longest = outputTokens;
      if (promptRatio !== undefined && (highest === undefined || promptRatio > highest))
        highest = promptRatio;
    }
    return { longest, promptRatio: highest };
  }
}
