import type { HealthState } from './endpoint-health.ts';

/** When a site cools down, and how long: `routing.cooldown` of the configuration. */
export interface CooldownSettings {
  /** Failures in a row that begin a cool-down. */
  readonly failures: number;
  /** Length of the first cool-down; the n-th in a row takes n times as long. */
  readonly baseMs: number;
  /** No cool-down takes longer. */
  readonly maxMs: number;
}

/** Leave to make one call. The outcome of the call is reported with it. */
export interface BreakerAdmission {
  /** Cool-downs that had begun when the call was made: what it tells about a time before the newest is old news. */
  readonly era: number;
}

/** A cool-down takes up to this share longer, so that not all endpoints of a failed provider are tried at once. */
const JITTER = 0.2;

/** Between probes of a site that is cooling, milliseconds. */
const PROBE_SPACING_MS = 1000;

/**
 * How long a probe keeps others out, milliseconds: an answer that comes whole may take minutes, and tells nothing
 * before.
 */
const PROBE_PATIENCE_MS = 10_000;

/**
 * Decides whether one site may be called. After enough failures in a row it cools down: calls stop, except single
 * probes of requests that have no other candidate. When its time is up it is on probation: one call at a time. The
 * first token of a probe puts it back into service, where one more failure is enough until a call succeeds.
 */
export class Breaker {
  readonly #settings: () => CooldownSettings;
  readonly #random: () => number;
  #failures = 0;
  /** Cool-downs since the last success. */
  #round = 0;
  #era = 0;
  #isOpen = false;
  #coolUntilMs = 0;
  #nextProbeMs = 0;
  #probe: BreakerAdmission | undefined;
  #probeBeganMs = 0;

  constructor(settings: () => CooldownSettings, random: () => number) {
    this.#settings = settings;
    this.#random = random;
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  stateAt(nowMs: number): HealthState {
    if (!this.#isOpen) return 'ok';
    return nowMs < this.#coolUntilMs ? 'cooling' : 'probing';
  }

  /** `isLastHope`: the request has no other candidate. */
  admit(nowMs: number, isLastHope: boolean): BreakerAdmission | undefined {
    const admission = { era: this.#era };
    const state = this.stateAt(nowMs);
    if (state === 'ok') return admission;
    if (this.#probe !== undefined && nowMs < this.#probeBeganMs + PROBE_PATIENCE_MS) return undefined;
    if (state === 'cooling' && (!isLastHope || nowMs < this.#nextProbeMs)) return undefined;
    this.#probe = admission;
    this.#probeBeganMs = nowMs;
    return admission;
  }

  /** The call brings an answer. */
  answered(admission: BreakerAdmission): void {
    if (admission !== this.#probe) return;
    this.#probe = undefined;
    this.#isOpen = false;
  }

  succeeded({ era }: BreakerAdmission): void {
    if (era !== this.#era) return;
    this.#probe = undefined;
    this.#isOpen = false;
    this.#failures = 0;
    this.#round = 0;
  }

  failed(admission: BreakerAdmission, nowMs: number): void {
    if (admission.era !== this.#era) return;
    this.#failures++;
    const wasProbe = admission === this.#probe;
    this.release(admission);
    if (wasProbe) this.#nextProbeMs = nowMs + PROBE_SPACING_MS;
    const state = this.stateAt(nowMs);
    if (state === 'probing' || (state === 'ok' && this.#failures >= this.#settings().failures)) {
      this.#open(nowMs);
      if (!wasProbe) this.#nextProbeMs = nowMs;
    }
  }

  /** The call ended without telling anything about the site. */
  release(admission: BreakerAdmission): void {
    if (admission === this.#probe) this.#probe = undefined;
  }

  /** Milliseconds until the site is called again in its place; 0 = now. */
  waitAt(nowMs: number): number {
    if (!this.#isOpen) return 0;
    const untilProbation = Math.max(0, this.#coolUntilMs - nowMs);
    return untilProbation === 0 && this.#probe !== undefined ? PROBE_SPACING_MS : untilProbation;
  }

  /** When the state changes by itself; infinity when it does not. */
  changesAt(nowMs: number): number {
    return this.stateAt(nowMs) === 'cooling' ? this.#coolUntilMs : Number.POSITIVE_INFINITY;
  }

  #open(nowMs: number): void {
    const { baseMs, maxMs } = this.#settings();
    this.#round++;
    this.#era++;
    this.#isOpen = true;
    this.#coolUntilMs = nowMs + Math.min(maxMs, baseMs * this.#round * (1 + JITTER * this.#random()));
  }
}
