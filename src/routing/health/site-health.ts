import type { Clock } from '../../kit/ids.ts';
import { Breaker, type CooldownSettings } from './breaker.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import { Measurements } from './measurements.ts';

/** What health is kept with. */
export interface HealthTools {
  readonly clock: Clock;
  /** 0 <= x < 1. */
  readonly random: () => number;
  readonly settings: () => CooldownSettings;
}

/** Longest time for which a site is left alone because it asked for it, milliseconds. */
const LONGEST_PAUSE_MS = 300_000;

/** How long an answer about a site is repeated when nothing happened in between, milliseconds. */
const REPEATED_MS = 1000;

/** All that is known of one site. */
export class SiteHealth {
  readonly breaker: Breaker;
  readonly measurements = new Measurements();
  /** Calls under way. */
  visits = 0;
  /** The last call that told anything failed. */
  failedLast = false;
  readonly #clock: Clock;
  /** By the monotonic clock, and the same moment as callers are told it. */
  #pausedUntil = { monotonicMs: 0, epochMs: 0 };
  #answer: EndpointHealth | undefined;
  #answerUntilMs = 0;

  constructor({ clock, random, settings }: HealthTools) {
    this.#clock = clock;
    this.breaker = new Breaker(settings, random);
  }

  /** As of now; of measurements up to one second old. */
  health(): EndpointHealth {
    const nowMs = this.#clock.monotonic();
    if (this.#answer === undefined || nowMs >= this.#answerUntilMs) {
      this.#answer = this.#healthAt(nowMs);
      this.#answerUntilMs = Math.min(
        nowMs + REPEATED_MS,
        this.breaker.changesAt(nowMs),
        this.#pauseEnd(nowMs),
      );
    }
    return this.#answer;
  }

  /** Something happened that `health` must tell at once. */
  changed(): void {
    this.#answer = undefined;
  }

  /** It asked to be left alone for so long. */
  pause(durationMs: number): void {
    const lengthMs = Math.min(LONGEST_PAUSE_MS, durationMs);
    const monotonicMs = this.#clock.monotonic() + lengthMs;
    if (monotonicMs <= this.#pausedUntil.monotonicMs) return;
    this.#pausedUntil = { monotonicMs, epochMs: Math.ceil(this.#clock.now() + lengthMs) };
  }

  isPaused(): boolean {
    return this.#pausedUntil.monotonicMs > this.#clock.monotonic();
  }

  /** Milliseconds until it is called again in its place; 0 = now. */
  wait(): number {
    const nowMs = this.#clock.monotonic();
    return Math.max(0, this.#pausedUntil.monotonicMs - nowMs, this.breaker.waitAt(nowMs));
  }

  #healthAt(nowMs: number): EndpointHealth {
    const { latency, throughput } = this.measurements.pace(nowMs);
    return {
      state: this.breaker.stateAt(nowMs),
      failures: this.breaker.failures,
      isUnstable: this.measurements.isUnstable(nowMs),
      pausedUntilMs: this.isPaused() ? this.#pausedUntil.epochMs : 0,
      latency,
      throughput,
      toolErrorRate: this.measurements.toolErrorRate(nowMs),
    };
  }

  #pauseEnd(nowMs: number): number {
    const { monotonicMs } = this.#pausedUntil;
    return monotonicMs > nowMs ? monotonicMs : Number.POSITIVE_INFINITY;
  }
}
