import type { HealthReport, ReceivedNews } from '../../ports/shared/routing-memory.ts';
import { AccountHealth } from './account-health.ts';
import type { BreakerAdmission } from './breaker.ts';
import { type EndpointHealth, type HealthView, UNTRIED } from './endpoint-health.ts';
import { emptyReport } from './health-news.ts';
import { HealthTicket, type TicketAccount, type TicketProbe } from './health-ticket.ts';
import { NO_STATISTICS, type ServiceHistory, type ServiceStatistics } from './measurements.ts';
import type { FailureCause } from './service-watch.ts';
import { type HealthDependencies, SiteHealth } from './site-health.ts';

/** Sites in memory, about 11 kilobytes each; the least recently called is evicted. */
const MAX_SITES = 4096;

/** Accounts in memory whose requests failed at a site, about 1 kilobyte each; the one that failed first is evicted. */
const MAX_ACCOUNTS = 4096;

/** Bounds of the retry-after that callers get. */
const MIN_RETRY_AFTER_SECONDS = 1;
const MAX_RETRY_AFTER_SECONDS = 300;

export interface CallContext {
  /** An earlier call of the same request failed. */
  readonly isRetry: boolean;
  /** All other candidates of the request were tried or may not be called now. */
  readonly isLastCandidate: boolean;
}

/** The health of sites as the requests of one account see it. */
export interface CallerHealth extends HealthView {
  /** Permission to call a site; undefined if it must not be called now. The ticket must get the outcome. */
  enter(site: string, context: CallContext): HealthTicket | undefined;
  /** Retry-after for a request that none of these sites may serve now: when the first may be called again. */
  retryAfterSeconds(sites: readonly string[]): number;
}

/** A site that cools down: for all, or for some accounts alone. */
export interface CoolingSite {
  readonly site: string;
  /** 0 = for all. */
  readonly accounts: number;
  /** Time left of the longest of its cool-downs. */
  readonly leftMs: number;
  /** Cause of the last failure that counted. */
  readonly cause: FailureCause | undefined;
}

const FIRST_ADMISSION: BreakerAdmission = { era: 0, isProbe: false };

/**
 * The health of all sites (`siteOf`), in bounded memory. Called without an account, it is the health for all, and
 * every failure counts for all.
 */
export class Health implements CallerHealth {
  readonly #dependencies: HealthDependencies;
  readonly #maxSites: number;
  readonly #maxAccounts: number;
  /** Least recently called first. */
  readonly #sites = new Map<string, SiteHealth>();
  /**
   * Health by site and account, only of accounts whose requests failed there; in the order of their first
   * failures.
   */
  readonly #accounts = new Map<string, AccountHealth>();

  constructor(
    dependencies: HealthDependencies,
    maxSites: number = MAX_SITES,
    maxAccounts: number = MAX_ACCOUNTS,
  ) {
    this.#dependencies = dependencies;
    this.#maxSites = maxSites;
    this.#maxAccounts = maxAccounts;
  }

  of(name: string, account?: string): EndpointHealth {
    const site = this.#sites.get(name);
    if (site === undefined) return UNTRIED;
    const own = this.#ofAccount(name, account);
    return own === undefined ? site.health() : own.over(site.health(), site.measurements);
  }

  /**
   * The health of sites as the requests of an account see it: what only these requests bring about holds for
   * them alone.
   */
  forAccount(account: string): CallerHealth {
    return new HealthForAccount(this, account);
  }

  statistics(site: string): ServiceStatistics {
    return (
      this.#sites.get(site)?.measurements.statistics(this.#dependencies.clock.monotonic()) ?? NO_STATISTICS
    );
  }

  /** Undefined = the site was not called since the start. */
  history(site: string): ServiceHistory | undefined {
    return this.#sites.get(site)?.measurements.history(this.#dependencies.clock.monotonic());
  }

  enter(name: string, { isRetry, isLastCandidate }: CallContext, account?: string): HealthTicket | undefined {
    const site = this.#touch(name);
    const { clock } = this.#dependencies;
    const nowMs = clock.monotonic();
    if (site.pause.leftAt(nowMs) > 0) return undefined;
    const isCounted = isRetry && site.failedLast;
    if (isCounted && !site.retries.hasRoom()) return undefined;
    const admission = site.breaker.admit(nowMs, isLastCandidate);
    if (admission === undefined) return undefined;
    const asking = account === undefined ? undefined : this.#admitAccount(name, account, isLastCandidate);
    if (asking === 'refused') {
      site.breaker.release(admission);
      return undefined;
    }
    const probe =
      admission.isProbe || asking?.admission.isProbe === true
        ? this.#probeOf(name, admission, asking)
        : undefined;
    return new HealthTicket({ site, admission, clock, isCounted, account: asking, probe });
  }

  /** Counts what other processes have seen, as if it had been seen here. */
  applyNews({ health, ageMs }: Pick<ReceivedNews, 'health' | 'ageMs'>): void {
    for (const each of health) {
      const report = olderBy(each, ageMs);
      if (report.account === null) this.#touch(report.site).applyReport(report, ageMs);
      else this.#applyToAccount(report, report.account);
    }
  }

  /** The cool-downs in force, as reports. */
  cooldownReports(): HealthReport[] {
    const nowMs = this.#nowMs;
    const reports: HealthReport[] = [];
    for (const [site, { breaker }] of this.#sites) {
      const cooldown = breaker.cooldownAt(nowMs);
      if (cooldown !== undefined) reports.push({ ...emptyReport(site), cooldown });
    }
    for (const [key, { breaker }] of this.#accounts) {
      const cooldown = breaker.cooldownAt(nowMs);
      if (cooldown === undefined) continue;
      const at = key.lastIndexOf(SEPARATOR);
      reports.push({ ...emptyReport(key.slice(0, at), key.slice(at + 1)), cooldown });
    }
    return reports;
  }

  /** The health for an account is made only if there is something bad to count. */
  #applyToAccount(report: HealthReport, account: string): void {
    const isBad = report.failures.length > 0 || report.cooldown !== null || report.deferralMs > 0;
    const known = this.#ofAccount(report.site, account);
    if (known === undefined && !isBad) return;
    this.#touch(report.site);
    (known ?? this.#addAccount(report.site, account)).applyReport(report);
  }

  #probeOf(
    site: string,
    { isProbe }: BreakerAdmission,
    account: TicketAccount | undefined,
  ): TicketProbe | undefined {
    const rights = this.#dependencies.probeRights;
    if (rights === undefined) return undefined;
    const places = [
      ...(isProbe ? [site] : []),
      ...(account?.admission.isProbe === true ? [keyOf(site, account.id)] : []),
    ];
    return { places, rights };
  }

  /** Milliseconds until a site may be called again; 0 = now, perhaps only as the last candidate. */
  wait(site: string, account?: string): number {
    const ofAll = this.#sites.get(site)?.wait() ?? 0;
    const own = this.#ofAccount(site, account);
    return own === undefined ? ofAll : Math.max(ofAll, own.breaker.waitAt(this.#nowMs));
  }

  retryAfterSeconds(sites: readonly string[], account?: string): number {
    const waitMs = sites.reduce(
      (least, site) => Math.min(least, this.wait(site, account)),
      Number.POSITIVE_INFINITY,
    );
    return Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(MIN_RETRY_AFTER_SECONDS, Math.ceil(waitMs / 1000)));
  }

  cooling(): number {
    return this.coolingSites().length;
  }

  /** The sites that are cooling down: each once, for all if it is so. */
  coolingSites(): CoolingSite[] {
    const nowMs = this.#nowMs;
    const found = new Map<string, CoolingSite>();
    for (const [site, { breaker, service }] of this.#sites) {
      if (breaker.stateAt(nowMs) !== 'cooling') continue;
      found.set(site, { site, accounts: 0, leftMs: breaker.waitAt(nowMs), cause: service.cause });
    }
    for (const [key, { breaker, service }] of this.#accounts) {
      if (breaker.stateAt(nowMs) !== 'cooling') continue;
      const site = key.slice(0, key.lastIndexOf(SEPARATOR));
      const known = found.get(site);
      if (known?.accounts === 0) continue;
      const leftMs = Math.max(known?.leftMs ?? 0, breaker.waitAt(nowMs));
      found.set(site, { site, accounts: (known?.accounts ?? 0) + 1, leftMs, cause: service.cause });
    }
    return [...found.values()];
  }

  get #nowMs(): number {
    return this.#dependencies.clock.monotonic();
  }

  #ofAccount(site: string, account: string | undefined): AccountHealth | undefined {
    if (account === undefined || this.#accounts.size === 0) return undefined;
    return this.#accounts.get(keyOf(site, account));
  }

  #admitAccount(site: string, id: string, isLastCandidate: boolean): TicketAccount | 'refused' {
    const health = this.#ofAccount(site, id);
    const admission =
      health === undefined ? FIRST_ADMISSION : health.breaker.admit(this.#nowMs, isLastCandidate);
    if (admission === undefined) return 'refused';
    return { id, health, admission, addHealth: () => this.#addAccount(site, id) };
  }

  /** The health may be there by now: calls of the account that were under way together fail together. */
  #addAccount(site: string, account: string): AccountHealth {
    const key = keyOf(site, account);
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    if (this.#accounts.size >= this.#maxAccounts) {
      const [oldest] = this.#accounts.keys();
      if (oldest !== undefined) this.#accounts.delete(oldest);
    }
    const health = new AccountHealth({ site, account }, this.#dependencies);
    this.#accounts.set(key, health);
    return health;
  }

  #touch(name: string): SiteHealth {
    const site = this.#sites.get(name) ?? this.#add(name);
    this.#sites.delete(name);
    this.#sites.set(name, site);
    return site;
  }

  #add(name: string): SiteHealth {
    this.#makeRoom();
    return new SiteHealth(name, this.#dependencies);
  }

  /** Sites with open calls are not evicted but moved to the end. */
  #makeRoom(): void {
    for (let left = this.#sites.size; left > 0 && this.#sites.size >= this.#maxSites; left--) {
      const [oldest] = this.#sites;
      if (oldest === undefined) return;
      const [name, site] = oldest;
      this.#sites.delete(name);
      if (site.openCalls > 0) this.#sites.set(name, site);
      else this.#dependencies.news?.forget(name);
    }
  }
}

class HealthForAccount implements CallerHealth {
  readonly #health: Health;
  readonly #account: string;

  constructor(health: Health, account: string) {
    this.#health = health;
    this.#account = account;
  }

  of(site: string): EndpointHealth {
    return this.#health.of(site, this.#account);
  }

  enter(site: string, context: CallContext): HealthTicket | undefined {
    return this.#health.enter(site, context, this.#account);
  }

  retryAfterSeconds(sites: readonly string[]): number {
    return this.#health.retryAfterSeconds(sites, this.#account);
  }
}

/** Failures that were reported longer ago do not count: the cool-down that they began has a report of its own. */
const MAX_FAILURE_AGE_MS = 5_000;

/** What a report means so long after it was given. */
function olderBy(report: HealthReport, ageMs: number): HealthReport {
  const { failures, cooldown, pauseMs, deferralMs } = report;
  return {
    ...report,
    failures: ageMs > MAX_FAILURE_AGE_MS ? [] : failures,
    cooldown: cooldown && { ...cooldown, leftMs: cooldown.leftMs - ageMs },
    pauseMs: Math.max(0, pauseMs - ageMs),
    deferralMs: Math.max(0, deferralMs - ageMs),
  };
}

/** Accounts have none in their ids; sites do. */
const SEPARATOR = '\n';

function keyOf(site: string, account: string): string {
  return `${site}${SEPARATOR}${account}`;
}
