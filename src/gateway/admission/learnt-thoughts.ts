import { RecentMap } from '../../kit/collections/recent-map.ts';

/** Kinds of answers that are remembered, the most recently used. */
const MAX_KINDS = 10_000;

/** Answers after which older ones count half. */
const REMEMBERED_ANSWERS = 64;

/** Thinking of requests that ask for none in particular: the model decides. */
export const USUAL_THINKING = 'usual';

interface Thoughts {
  answers: number;
  /** Tokens of all answers that were reported, and not shown. */
  hidden: number;
}

/**
 * How many tokens of thoughts the answers of endpoints have that they do not show. An answer thinks before it writes,
 * so what it wrote until it was cut says nothing of them. Not kept across restarts.
 */
export class LearntThoughts {
  readonly #thoughts = new RecentMap<string, Thoughts>(MAX_KINDS);

  /** Adds a whole answer. `thinking`: the effort that its request asks for, or another word for how it is to think. */
  learn(site: string, thinking: string, hidden: number): void {
    this.#add(`${site} ${thinking}`, hidden);
    if (thinking !== USUAL_THINKING) this.#add(site, hidden);
  }

  /**
   * Hidden tokens of an answer, on average; undefined if there were none yet. Thinking that was asked for and is not
   * known yet is taken for what answers had that were asked to think in any way.
   */
  meanOf(site: string, thinking: string): number | undefined {
    const known =
      this.#thoughts.get(`${site} ${thinking}`) ??
      (thinking === USUAL_THINKING ? undefined : this.#thoughts.get(site));
    return known && known.hidden / known.answers;
  }

  #add(kind: string, hidden: number): void {
    const known = this.#thoughts.get(kind);
    if (known === undefined) {
      this.#thoughts.set(kind, { answers: 1, hidden });
      return;
    }
    known.answers += 1;
    known.hidden += hidden;
    if (known.answers < REMEMBERED_ANSWERS) return;
    known.answers /= 2;
    known.hidden /= 2;
  }
}
