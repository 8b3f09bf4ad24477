import type { Clock } from '../../kit/time/clock.ts';
import type { BegunCooldown, BreakerWatch } from './breaker.ts';
import type { HealthNews } from './health-news.ts';
import type { ServicePlace } from './service-place.ts';

/** Why a call failed, in a few words for operators. */
export interface FailureCause {
  readonly kind: string;
  /** Status of the upstream; null = it never answered. */
  readonly status: number | null;
  /** The upstream's own code. */
  readonly code: string | null;
  /** Code of the system or of TLS. */
  readonly errno: string | null;
}

/** A site goes out of service, or is back. `cause`: of the last failure that counted. */
export type ServiceChange = ServicePlace & { readonly cause: FailureCause | undefined } & (
    | ({ readonly kind: 'cooling' } & BegunCooldown)
    | { readonly kind: 'back'; readonly outMs: number }
    /** A rate limit of the upstream, with a retry-after. */
    | { readonly kind: 'paused'; readonly lengthMs: number }
  );

export type ReportService = (change: ServiceChange) => void;

export interface ServiceWatchDependencies {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly report?: ReportService;
  /** Collects what other processes are to know; absent = there are none. */
  readonly news?: HealthNews | undefined;
}

/** Reports when a site goes out of service and when it is back, with the cause. */
export class ServiceWatch implements BreakerWatch {
  /** Cause of the last failure that counted; set before the breaker counts it. */
  cause: FailureCause | undefined;
  readonly #place: ServicePlace;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #report: ReportService | undefined;
  readonly #news: HealthNews | undefined;
  /** When it went out of service; undefined while it is in service. */
  #outSinceMs: number | undefined;

  constructor(place: ServicePlace, { clock, report, news }: ServiceWatchDependencies) {
    this.#place = place;
    this.#clock = clock;
    this.#report = report;
    this.#news = news;
  }

  opened(cooldown: BegunCooldown): void {
    this.#outSinceMs ??= this.#clock.monotonic();
    this.#news?.opened(this.#place, cooldown);
    this.#report?.({ kind: 'cooling', ...this.#place, cause: this.cause, ...cooldown });
  }

  closed(): void {
    const nowMs = this.#clock.monotonic();
    const outMs = nowMs - (this.#outSinceMs ?? nowMs);
    this.#outSinceMs = undefined;
    this.#news?.closed(this.#place);
    this.#report?.({ kind: 'back', ...this.#place, cause: this.cause, outMs });
  }

  failed(account: string | undefined): void {
    this.#news?.failed(this.#place, account);
  }

  recovered(): void {
    this.#news?.recovered(this.#place);
  }

  /** The process that has begun the cool-down reports it. */
  openedElsewhere(): void {
    this.#outSinceMs ??= this.#clock.monotonic();
    this.cause = undefined;
  }

  closedElsewhere(): void {
    this.#outSinceMs = undefined;
  }

  paused(lengthMs: number, cause: FailureCause | undefined): void {
    this.#report?.({ kind: 'paused', ...this.#place, cause, lengthMs });
  }

  /** A retry-after of the upstream: `pause` forbids calls, `deferral` lets others go first. */
  retryAfter(what: 'pause' | 'deferral', lengthMs: number): void {
    if (lengthMs <= 0) return;
    if (what === 'pause') this.#news?.paused(this.#place, lengthMs);
    else this.#news?.deferred(this.#place, lengthMs);
  }
}
