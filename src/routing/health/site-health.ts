import type { Clock } from '../../kit/time/clock.ts';
import { Breaker, type CooldownSettings } from './breaker.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import { Measurements } from './measurements.ts';
import { RetryAfter } from './retry-after.ts';
import { RetryBudget } from './retry-budget.ts';

/** What health is kept with. */
export interface HealthTools {
  readonly clock: Clock;
  /** 0 <= x < 1. */
  readonly random: () => number;
  readonly settings: () => CooldownSettings;
}

/** How long an answer about a site is repeated when nothing happened in between, milliseconds. */
const REPEATED_MS = 1000;

/** All that is known of one site. */
export class SiteHealth {
  readonly breaker: Breaker;
  readonly measurements = new Measurements();
  readonly retries = new RetryBudget();
  /** After a rate limit: it is not called. */
  readonly pause: RetryAfter;
  /** After another failure: it is called only by requests that have no other candidate. */
  readonly deferral: RetryAfter;
  /** Calls under way. */
  openCalls = 0;
  /** The last call that told anything failed. */
  failedLast = false;
  readonly #clock: Clock;
  #answer: EndpointHealth | undefined;
  #answerUntilMs = 0;

  constructor({ clock, random, settings }: HealthTools) {
    this.#clock = clock;
    this.breaker = new Breaker(settings, random);
    this.pause = new RetryAfter(clock);
    this.deferral = new RetryAfter(clock);
  }

  /** As of now; of measurements up to one second old. */
  health(): EndpointHealth {
    const nowMs = this.#clock.monotonic();
    if (this.#answer === undefined || nowMs >= this.#answerUntilMs) {
      this.#answer = this.#healthAt(nowMs);
      this.#answerUntilMs = Math.min(
        nowMs + REPEATED_MS,
        this.breaker.changesAt(nowMs),
        this.pause.changesAt(nowMs),
        this.deferral.changesAt(nowMs),
      );
    }
    return this.#answer;
  }

  /** Something happened that `health` must tell at once. */
  changed(): void {
    this.#answer = undefined;
  }

  /** Milliseconds until it may be called again; 0 = now, be it only for want of others. */
  wait(): number {
    const nowMs = this.#clock.monotonic();
    return Math.max(this.pause.leftAt(nowMs), this.breaker.waitAt(nowMs));
  }

  #healthAt(nowMs: number): EndpointHealth {
    const { latency, throughput } = this.measurements.pace(nowMs);
    return {
      state: this.breaker.stateAt(nowMs),
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
