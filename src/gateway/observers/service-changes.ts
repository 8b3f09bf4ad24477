import type { Clock } from '../../kit/time/clock.ts';
import type { ServiceChange } from '../../routing/health/service-watch.ts';
import { partsOfSite, type SiteParts } from '../../routing/rules/candidate.ts';

export type NotedChange = ServiceChange & {
  readonly atMs: number;
  readonly place: SiteParts;
};

/** Changes in memory; the oldest is dropped. */
const MAX_CHANGES = 1_000;

/** Remembers when endpoints went out of service and came back, with the gateway's own credential. */
export class ServiceChanges {
  readonly #clock: Clock;
  readonly #changes: NotedChange[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(change: ServiceChange): void {
    const place = partsOfSite(change.site);
    // The state of a BYOK credential concerns its owner.
    if (place.byokCredential !== undefined) return;
    if (this.#changes.length >= MAX_CHANGES) this.#changes.shift();
    this.#changes.push({ ...change, atMs: this.#clock.now(), place });
  }

  /** Newest first. */
  all(): readonly NotedChange[] {
    return this.#changes.toReversed();
  }
}
