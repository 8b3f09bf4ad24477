import { LRUCache } from 'lru-cache';

/** Answers that are remembered of each key and model. */
const REMEMBERED = 16;

/** Answers of other keys of the account that it takes to speak for a key that has none yet. */
const ENOUGH_OF_OTHERS = 4;

/** Pairs that are remembered, those that were used last. */
const MOST_PAIRS = 20_000;

/** Whose answers, of which model. */
export interface Answers {
  readonly keyHash: string;
  readonly accountId: string;
  readonly modelId: string;
}

/** How long answers have been lately: what reservations are sized by. Forgotten with the process. */
export class LearntLengths {
  readonly #recent = new LRUCache<string, number[]>({ max: MOST_PAIRS });

  /** Notes the length of an answer that ended by itself, tokens. */
  learn(answers: Answers, outputTokens: number): void {
    for (const name of namesOf(answers)) {
      const recent = this.#recent.get(name) ?? [];
      recent.push(outputTokens);
      if (recent.length > REMEMBERED) recent.shift();
      this.#recent.set(name, recent);
    }
  }

  /** The longest of the last answers, tokens; undefined when too few are known. */
  longest(answers: Answers): number | undefined {
    const [ofKey, ofAccount] = namesOf(answers).map((name) => this.#recent.get(name) ?? []);
    if (ofKey !== undefined && ofKey.length > 0) return Math.max(...ofKey);
    return ofAccount !== undefined && ofAccount.length >= ENOUGH_OF_OTHERS
      ? Math.max(...ofAccount)
      : undefined;
  }
}

function namesOf({ keyHash, accountId, modelId }: Answers): [ofKey: string, ofAccount: string] {
  return [`key\n${keyHash}\n${modelId}`, `account\n${accountId}\n${modelId}`];
}
