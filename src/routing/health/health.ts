import { type EndpointHealth, type HealthView, UNTRIED } from './endpoint-health.ts';
import { HealthTicket } from './health-ticket.ts';
import { NO_STATISTICS, type ServiceStatistics } from './measurements.ts';
import { type HealthTools, SiteHealth } from './site-health.ts';

/** Sites that are remembered; the one unused longest goes. About 11 kilobytes each. */
const MOST_SITES = 4096;

/** What callers are told to wait, seconds. */
const SHORTEST_WAIT = 1;
const LONGEST_WAIT = 300;

/** How a request comes to call a site. */
export interface CallSituation {
  /** Another call of the same request failed before. */
  readonly isRetry: boolean;
  /** Every other candidate of the request was tried, or may not be called now. */
  readonly isLastHope: boolean;
}

/** The health of all sites (`siteOf`), in bounded memory. */
export class Health implements HealthView {
  readonly #tools: HealthTools;
  readonly #mostSites: number;
  /** In the order in which they were last called. */
  readonly #sites = new Map<string, SiteHealth>();

  constructor(tools: HealthTools, mostSites: number = MOST_SITES) {
    this.#tools = tools;
    this.#mostSites = mostSites;
  }

  of(site: string): EndpointHealth {
    return this.#sites.get(site)?.health() ?? UNTRIED;
  }

  /** What the endpoints list shows. */
  statistics(site: string): ServiceStatistics {
    return this.#sites.get(site)?.measurements.statistics(this.#tools.clock.monotonic()) ?? NO_STATISTICS;
  }

  /** Leave to call a site now; undefined when it must not be called. The ticket must be told how the call ends. */
  enter(name: string, { isRetry, isLastHope }: CallSituation): HealthTicket | undefined {
    const site = this.#touch(name);
    const { clock } = this.#tools;
    const nowMs = clock.monotonic();
    if (site.pause.leftAt(nowMs) > 0) return undefined;
    const isCounted = isRetry && site.failedLast;
    if (isCounted && !site.retries.hasRoom()) return undefined;
    const admission = site.breaker.admit(nowMs, isLastHope);
    if (admission === undefined) return undefined;
    return new HealthTicket({ site, admission, clock, isCounted });
  }

  /** Milliseconds until a site may be called again; 0 = now, be it only for want of others. */
  wait(site: string): number {
    return this.#sites.get(site)?.wait() ?? 0;
  }

  /** What to tell a caller whose request none of these sites may serve now: when the first of them is called again. */
  retryAfterSeconds(sites: readonly string[]): number {
    const waitMs = sites.reduce((least, site) => Math.min(least, this.wait(site)), Number.POSITIVE_INFINITY);
    return Math.min(LONGEST_WAIT, Math.max(SHORTEST_WAIT, Math.ceil(waitMs / 1000)));
  }

  /** How many sites are cooling down. */
  cooling(): number {
    const nowMs = this.#tools.clock.monotonic();
    let count = 0;
    for (const { breaker } of this.#sites.values()) if (breaker.stateAt(nowMs) === 'cooling') count++;
    return count;
  }

  #touch(name: string): SiteHealth {
    const site = this.#sites.get(name) ?? this.#add();
    this.#sites.delete(name);
    this.#sites.set(name, site);
    return site;
  }

  #add(): SiteHealth {
    this.#makeRoom();
    return new SiteHealth(this.#tools);
  }

  /** Sites with calls under way stay, and go to the end of the queue: they are in use. */
  #makeRoom(): void {
    for (let looks = this.#sites.size; looks > 0 && this.#sites.size >= this.#mostSites; looks--) {
      const [oldest] = this.#sites;
      if (oldest === undefined) return;
      const [name, site] = oldest;
      this.#sites.delete(name);
      if (site.openCalls > 0) this.#sites.set(name, site);
    }
  }
}
