import type { Clock } from '../../kit/time/clock.ts';
import type { HealthReport } from '../../ports/shared/routing-memory.ts';
import { Breaker, type BreakerAdmission } from './breaker.ts';
import type { EndpointHealth, HealthState } from './endpoint-health.ts';
import { INSTABILITY_WINDOW, type Measurements } from './measurements.ts';
import { RetryAfter } from './retry-after.ts';
import { RollingSums } from './rolling-sums.ts';
import type { ServicePlace } from './service-place.ts';
import { ServiceWatch } from './service-watch.ts';
import type { HealthDependencies } from './site-health.ts';

/** Larger = worse. */
const SEVERITY: Readonly<Record<HealthState, number>> = { ok: 0, probing: 1, cooling: 2 };

/**
 * Health of a site for one account whose requests failed there. Failures that may be due to these requests cool the
 * site down for this account alone.
 */
export class AccountHealth {
  readonly breaker: Breaker;
  readonly service: ServiceWatch;
  readonly #clock: Clock;
  readonly #deferral: RetryAfter;
  readonly #failures = new RollingSums(
    new Uint32Array(INSTABILITY_WINDOW.slices),
    1,
    INSTABILITY_WINDOW.sliceMs,
  );

  constructor(place: ServicePlace, dependencies: HealthDependencies) {
    const { clock, random, settings } = dependencies;
    this.#clock = clock;
    this.service = new ServiceWatch(place, dependencies);
    this.breaker = new Breaker(settings, random, this.service);
    this.#deferral = new RetryAfter(clock);
  }

  failed(admission: BreakerAdmission, retryAfterMs: number): void {
    const nowMs = this.#clock.monotonic();
    this.#failures.add(0, 1, nowMs);
    this.#deferral.grant(retryAfterMs);
    this.service.retryAfter('deferral', retryAfterMs);
    this.breaker.failed(admission, nowMs);
  }

  /** Counts what another process has seen. */
  applyReport(report: HealthReport): void {
    const nowMs = this.#clock.monotonic();
    for (const { count } of report.failures) this.#failures.add(0, count, nowMs);
    this.#deferral.grant(report.deferralMs);
    this.breaker.applyReport(report, nowMs);
  }

  /** The health of the site as this account sees it: the worse of both. */
  over(shared: EndpointHealth, measurements: Measurements): EndpointHealth {
    const nowMs = this.#clock.monotonic();
    const state = this.breaker.stateAt(nowMs);
    const isOfAccount = SEVERITY[state] > SEVERITY[shared.state];
    return {
      ...shared,
      state: isOfAccount ? state : shared.state,
      isOfAccount,
      failures: Math.max(shared.failures, this.breaker.failures),
      isUnstable: shared.isUnstable || measurements.isUnstableWith(this.#failures.sum(0, nowMs), nowMs),
      deferredUntilMs: Math.max(shared.deferredUntilMs, this.#deferral.untilMs(nowMs)),
    };
  }
}
