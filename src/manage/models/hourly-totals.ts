import type { CountedCalls, HourlyCalls } from '../../ports/upstreams/call-counts.ts';

const HOUR_MS = 3_600_000;

/** Whole hours since the epoch. */
export function hourOf(timeMs: number): number {
  return Math.floor(timeMs / HOUR_MS);
}

/** Calls of an endpoint in an hour, and how many of them are known to be stored. */
interface Total {
  calls: number;
  failures: number;
  storedCalls: number;
  storedFailures: number;
}

/**
 * What this run has counted by hour and endpoint: the current hour, and hours before that are not stored yet. Totals
 * only grow, so a store that takes the higher of two totals counts each call once, however often it gets them.
 */
export class HourlyTotals {
  readonly #maxHours: number;
  /** Totals by hour, then by site; the oldest hour first. */
  readonly #hours = new Map<number, Map<string, Total>>();

  /** `maxHours`: hours that wait to be stored; older ones are dropped. */
  constructor(maxHours: number) {
    this.#maxHours = maxHours;
  }

  add(hour: number, counted: readonly CountedCalls[]): void {
    if (counted.length === 0) return;
    const sites = this.#hours.get(hour) ?? new Map<string, Total>();
    this.#hours.set(hour, sites);
    for (const { site, calls, failures } of counted) {
      const total = sites.get(site) ?? { calls: 0, failures: 0, storedCalls: 0, storedFailures: 0 };
      total.calls += calls;
      total.failures += failures;
      sites.set(site, total);
    }
    for (const old of this.#hours.keys()) if (old <= hour - this.#maxHours) this.#hours.delete(old);
  }

  /** Totals that are not known to be stored. */
  due(): HourlyCalls[] {
    const due: HourlyCalls[] = [];
    for (const [hour, sites] of this.#hours) {
      for (const [site, total] of sites) {
        const { calls, failures } = total;
        if (!isStored(total)) due.push({ hour, site, calls, failures });
      }
    }
    return due;
  }

  /** Calls that are not known to be stored. */
  get unstoredCalls(): number {
    let sum = 0;
    for (const sites of this.#hours.values()) {
      for (const { calls, storedCalls } of sites.values()) sum += calls - storedCalls;
    }
    return sum;
  }

  /** These totals are stored. Hours before `currentHour` that are stored altogether are forgotten. */
  stored(totals: readonly HourlyCalls[], currentHour: number): void {
    for (const { hour, site, calls, failures } of totals) {
      const total = this.#hours.get(hour)?.get(site);
      if (total === undefined) continue;
      total.storedCalls = calls;
      total.storedFailures = failures;
    }
    for (const [hour, sites] of this.#hours) {
      if (hour < currentHour && [...sites.values()].every(isStored)) this.#hours.delete(hour);
    }
  }
}

function isStored({ calls, failures, storedCalls, storedFailures }: Total): boolean {
  return calls === storedCalls && failures === storedFailures;
}
