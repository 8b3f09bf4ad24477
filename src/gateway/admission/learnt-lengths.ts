import { LRUCache } from 'lru-cache';

/** Answers that are remembered of each key and model. */
const REMEMBERED = 16;

/** Pairs that are remembered, those that were used last. */
const MOST_PAIRS = 20_000;

/** Whose answers, of which model. */
export interface Answers {
  readonly keyHash: string;
  readonly modelId: string;
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
  readonly #recent = new LRUCache<string, LearntAnswer[]>({ max: MOST_PAIRS });

  learn(answers: Answers, answer: LearntAnswer): void {
    const name = nameOf(answers);
    const recent = this.#recent.get(name) ?? [];
    recent.push(answer);
    if (recent.length > REMEMBERED) recent.shift();
    this.#recent.set(name, recent);
  }

  /** Undefined when nothing is known. */
  of(answers: Answers): Learnt | undefined {
    const recent = this.#recent.get(nameOf(answers));
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

function nameOf({ keyHash, modelId }: Answers): string {
  return `${keyHash}\n${modelId}`;
}
