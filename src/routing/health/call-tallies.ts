import type { CountedCalls } from '../../ports/upstreams/call-counts.ts';

export class CallTally {
  calls = 0;
  failures = 0;
}

/** Counts the calls of endpoints for their uptime, until they are taken; in one tally for each endpoint ever called. */
export class CallTallies {
  readonly #isCounted: (site: string) => boolean;
  readonly #tallies = new Map<string, CallTally>();

  /** `isCounted`: false for sites whose calls say nothing about their endpoint. */
  constructor(isCounted: (site: string) => boolean = () => true) {
    this.#isCounted = isCounted;
  }

  /** Where the calls of a site are counted; undefined if they do not count. */
  at(site: string): CallTally | undefined {
    if (!this.#isCounted(site)) return undefined;
    const known = this.#tallies.get(site);
    if (known !== undefined) return known;
    const made = new CallTally();
    this.#tallies.set(site, made);
    return made;
  }

  /** Adds what another process of this gateway has counted. */
  add(counted: readonly CountedCalls[]): void {
    for (const { site, calls, failures } of counted) {
      const tally = this.at(site);
      if (tally === undefined) continue;
      tally.calls += calls;
      tally.failures += failures;
    }
  }

  /** Everything counted since the last time. */
  take(): CountedCalls[] {
    const taken: CountedCalls[] = [];
    for (const [site, tally] of this.#tallies) {
      const { calls, failures } = tally;
      if (calls === 0 && failures === 0) continue;
      taken.push({ site, calls, failures });
      tally.calls = 0;
      tally.failures = 0;
    }
    return taken;
  }
}
