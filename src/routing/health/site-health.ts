import type { Clock } from '../../kit/time/clock.ts';
import type { HealthReport } from '../../ports/shared/routing-memory.ts';
import { Breaker, type CooldownSettings } from './breaker.ts';
import type { CallTallies } from './call-tallies.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import type { HealthNews } from './health-news.ts';
import { Measurements } from './measurements.ts';
import type { ProbeRights } from './probe-rights.ts';
import { RetryAfter } from './retry-after.ts';
import { RetryBudget } from './retry-budget.ts';
import { type FailureCause, type ReportService, ServiceWatch } from './service-watch.ts';

export interface HealthDependencies {
  readonly clock: Clock;
  /** 0 <= x < 1. */
  readonly random: () => number;
  readonly settings: () => CooldownSettings;
  /** Gets every change of service of a site; absent = nothing wants them. Must not throw. */
  readonly report?: ReportService;
  /** Collects what other processes are to know; absent = there are none. */
  readonly news?: HealthNews | undefined;
  /** Counts calls and failures that are stored; absent = they are not. */
  readonly callTallies?: CallTallies | undefined;
  /** Lets one process at a time probe a place; absent = there is only this one. */
  readonly probeRights?: ProbeRights | undefined;
}

/** How long computed health is reused if nothing happens, milliseconds. */
const HEALTH_CACHE_MS = 1000;

/** Breaker, measurements, retry budget and retry-afters of one site. */
export class SiteHealth {
  readonly service: ServiceWatch;
  readonly breaker: Breaker;
  readonly measurements: Measurements;
  readonly retries = new RetryBudget();
  /** After a rate limit: no calls. */
  readonly pause: RetryAfter;
  /** After another failure: other candidates go first. */
  readonly deferral: RetryAfter;
  openCalls = 0;
  /** The last call with a verdict failed. */
  failedLast = false;
  readonly #clock: Clock;
  #cached: EndpointHealth | undefined;
  #cachedUntilMs = 0;

  constructor(site: string, dependencies: HealthDependencies) {
    const { clock, random, settings } = dependencies;
    this.#clock = clock;
    this.measurements = new Measurements(
      dependencies.news?.measuredAt(site),
      dependencies.callTallies?.at(site),
    );
    this.service = new ServiceWatch({ site }, dependencies);
    this.breaker = new Breaker(settings, random, this.service);
    this.pause = new RetryAfter(clock);
    this.deferral = new RetryAfter(clock);
  }

  /** Measurements in it are up to HEALTH_CACHE_MS old. */
  health(): EndpointHealth {
    const nowMs = this.#clock.monotonic();
    if (this.#cached === undefined || nowMs >= this.#cachedUntilMs) {
      this.#cached = this.#healthAt(nowMs);
      this.#cachedUntilMs = Math.min(
        nowMs + HEALTH_CACHE_MS,
        this.breaker.changesAt(nowMs),
        this.pause.changesAt(nowMs),
        this.deferral.changesAt(nowMs),
      );
    }
    return this.#cached;
  }

  pauseFor(durationMs: number, cause: FailureCause | undefined): void {
    const isNew = this.pause.leftAt(this.#clock.monotonic()) === 0;
    this.pause.grant(durationMs);
    this.service.retryAfter('pause', durationMs);
    if (isNew) this.service.paused(durationMs, cause);
  }

  /** Lets other candidates go first. */
  deferFor(durationMs: number): void {
    this.deferral.grant(durationMs);
    this.service.retryAfter('deferral', durationMs);
  }

  /** Counts what another process has seen, so long ago. */
  applyReport(report: HealthReport, ageMs: number): void {
    const nowMs = this.#clock.monotonic();
    if (report.measured !== null) this.measurements.addReported(report.measured, nowMs - ageMs);
    this.pause.grant(report.pauseMs);
    this.deferral.grant(report.deferralMs);
    this.breaker.applyReport(report, nowMs);
    this.changed();
  }

  changed(): void {
    this.#cached = undefined;
  }

  /** Milliseconds until it may be called again; 0 = now, perhaps only as the last candidate. */
  wait(): number {
    const nowMs = this.#clock.monotonic();
    return Math.max(this.pause.leftAt(nowMs), this.breaker.waitAt(nowMs));
  }

  #healthAt(nowMs: number): EndpointHealth {
    const { latency, throughput } = this.measurements.pace(nowMs);
    return {
      state: this.breaker.stateAt(nowMs),
      isOfAccount: false,
      failures: this.breaker.failures,
      isUnstable: this.measurements.isUnstable(nowMs),
      pausedUntilMs: this.pause.untilMs(nowMs),
      deferredUntilMs: this.deferral.untilMs(nowMs),
      latency,
      throughput,
      toolErrorRate: this.measurements.toolErrorRate(nowMs),
    };
  }
}
