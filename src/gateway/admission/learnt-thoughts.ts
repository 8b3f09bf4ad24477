import { RecentMap } from '../../kit/collections/recent-map.ts';

/** Endpoints that are remembered, the most recently used. */
const MAX_LEARNT_ENDPOINTS = 10_000;

/** Output tokens after which older answers count half. */
const REMEMBERED_TOKENS = 200_000;

/** Output of answers: as their upstream reported it, and as much of it as was visible. */
interface Outputs {
  reported: number;
  visible: number;
}

/** How much longer the output of endpoints is, with the thoughts that they do not show. Not kept across restarts. */
export class LearntThoughts {
  readonly #outputs = new RecentMap<string, Outputs>(MAX_LEARNT_ENDPOINTS);

  /** Adds a whole answer. */
  learn(site: string, reported: number, visible: number): void {
    if (visible === 0) return;
    const known = this.#outputs.get(site);
    if (known === undefined) {
      this.#outputs.set(site, { reported, visible });
      return;
    }
    known.reported += reported;
    known.visible += visible;
    if (known.reported < REMEMBERED_TOKENS) return;
    known.reported /= 2;
    known.visible /= 2;
  }

  /** Reported tokens for a visible one, at least 1; undefined if there were no answers yet. */
  ratioOf(site: string): number | undefined {
    const known = this.#outputs.get(site);
    return known && Math.max(1, known.reported / known.visible);
  }
}
