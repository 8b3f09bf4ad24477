import { type EndpointHealth, type HealthView, UNTRIED } from './endpoint-health.ts';
import { HealthTicket } from './health-ticket.ts';
import { NO_STATISTICS, type ServiceStatistics } from './measurements.ts';
import { type HealthDependencies, SiteHealth } from './site-health.ts';

/** Sites in memory, about 11 kilobytes each; the least recently called is evicted. */
const MAX_SITES = 4096;

/** Bounds of the retry-after that callers get. */
const MIN_RETRY_AFTER_SECONDS = 1;
const MAX_RETRY_AFTER_SECONDS = 300;

export interface CallContext {
  /** An earlier call of the same request failed. */
  readonly isRetry: boolean;
  /** All other candidates of the request were tried or may not be called now. */
  readonly isLastCandidate: boolean;
}

/** The health of all sites (`siteOf`), in bounded memory. */
export class Health implements HealthView {
  readonly #dependencies: HealthDependencies;
  readonly #maxSites: number;
  /** Least recently called first. */
  readonly #sites = new Map<string, SiteHealth>();

  constructor(dependencies: HealthDependencies, maxSites: number = MAX_SITES) {
    this.#dependencies = dependencies;
    this.#maxSites = maxSites;
  }

  of(site: string): EndpointHealth {
    return this.#sites.get(site)?.health() ?? UNTRIED;
  }

  /** For the list of endpoints. */
  statistics(site: string): ServiceStatistics {
    return (
      this.#sites.get(site)?.measurements.statistics(this.#dependencies.clock.monotonic()) ?? NO_STATISTICS
    );
  }

  /** Permission to call a site; undefined if it must not be called now. The ticket must get the outcome. */
  enter(name: string, { isRetry, isLastCandidate }: CallContext): HealthTicket | undefined {
    const site = this.#touch(name);
    const { clock } = this.#dependencies;
    const nowMs = clock.monotonic();
    if (site.pause.leftAt(nowMs) > 0) return undefined;
    const isCounted = isRetry && site.failedLast;
    if (isCounted && !site.retries.hasRoom()) return undefined;
    const admission = site.breaker.admit(nowMs, isLastCandidate);
    if (admission === undefined) return undefined;
    return new HealthTicket({ site, admission, clock, isCounted });
  }

  /** Milliseconds until a site may be called again; 0 = now, perhaps only as the last candidate. */
  wait(site: string): number {
    return this.#sites.get(site)?.wait() ?? 0;
  }

  /** Retry-after for a request that none of these sites may serve now: when the first may be called again. */
  retryAfterSeconds(sites: readonly string[]): number {
    const waitMs = sites.reduce((least, site) => Math.min(least, this.wait(site)), Number.POSITIVE_INFINITY);
    return Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(MIN_RETRY_AFTER_SECONDS, Math.ceil(waitMs / 1000)));
  }

  /** Number of sites that are cooling down. */
  cooling(): number {
    const nowMs = this.#dependencies.clock.monotonic();
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
    return new SiteHealth(this.#dependencies);
  }

  /** Sites with open calls are not evicted but moved to the end. */
  #makeRoom(): void {
    for (let left = this.#sites.size; left > 0 && this.#sites.size >= this.#maxSites; left--) {
      const [oldest] = this.#sites;
      if (oldest === undefined) return;
      const [name, site] = oldest;
      this.#sites.delete(name);
      if (site.openCalls > 0) this.#sites.set(name, site);
    }
  }
}
