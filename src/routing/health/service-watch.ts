import type { Clock } from '../../kit/time/clock.ts';
import type { BegunCooldown, BreakerWatch } from './breaker.ts';

/** Why a call failed, in a few words for operators. */
export interface FailureCause {
  /** Kind of the error. */
  readonly kind: string;
  /** Status of the upstream; null = it never answered. */
  readonly status: number | null;
  /** The upstream's own code. */
  readonly code: string | null;
  /** Code of the system or of TLS. */
  readonly errno: string | null;
}

/** The unit that goes out of service: a site, for all or for one account. */
export interface ServicePlace {
  readonly site: string;
  /** Absent = for all. */
  readonly account?: string;
}

/** A site goes out of service, or is back. `cause`: of the last failure that counted. */
export type ServiceChange = ServicePlace & { readonly cause: FailureCause | undefined } & (
    | ({ readonly kind: 'cooling' } & BegunCooldown)
    | { readonly kind: 'back'; readonly outMs: number }
    /** A rate limit of the upstream, with a retry-after. */
    | { readonly kind: 'paused'; readonly lengthMs: number }
  );

export type ReportService = (change: ServiceChange) => void;

/** Reports when a site goes out of service and when it is back, with the cause. */
export class ServiceWatch implements BreakerWatch {
  /** Of the last failure that counted; set before the breaker counts it. */
  cause: FailureCause | undefined;
  readonly #place: ServicePlace;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #report: ReportService | undefined;
  /** When it went out of service; undefined while it is in service. */
  #outSinceMs: number | undefined;

  constructor(
    place: ServicePlace,
    { clock, report }: { readonly clock: Pick<Clock, 'monotonic'>; readonly report?: ReportService },
  ) {
    this.#place = place;
    this.#clock = clock;
    this.#report = report;
  }

  opened(cooldown: BegunCooldown): void {
    this.#outSinceMs ??= this.#clock.monotonic();
    this.#report?.({ kind: 'cooling', ...this.#place, cause: this.cause, ...cooldown });
  }

  closed(): void {
    const nowMs = this.#clock.monotonic();
    const outMs = nowMs - (this.#outSinceMs ?? nowMs);
    this.#outSinceMs = undefined;
    this.#report?.({ kind: 'back', ...this.#place, cause: this.cause, outMs });
  }

  paused(lengthMs: number, cause: FailureCause | undefined): void {
    this.#report?.({ kind: 'paused', ...this.#place, cause, lengthMs });
  }
}
