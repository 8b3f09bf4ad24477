import type { HealthReport, ReportedCooldown } from '../../ports/shared/routing-memory.ts';
import type { HealthState } from './endpoint-health.ts';
import { FailureTally } from './failure-tally.ts';

/** `routing.cooldown` of the configuration. */
export interface CooldownSettings {
  /** Failures in a row that begin a cool-down. */
  readonly failures: number;
  /** Length of the first cool-down; the n-th in a row is n times as long. */
  readonly baseMs: number;
  readonly maxMs: number;
}

/** Permission to make one call. Its outcome is reported with it. */
export interface BreakerAdmission {
  /** Number of cool-downs when the call began: outcomes of calls from before the newest one are ignored. */
  readonly era: number;
  /** The call probes a site that is out of service. */
  readonly isProbe: boolean;
}

export interface BegunCooldown {
  /** Failures in a row. */
  readonly failures: number;
  readonly lengthMs: number;
  /** Cool-downs since the last success, this one included. */
  readonly round: number;
}

/** Is called when a site goes out of service and when it is back, and with what counts towards that. */
export interface BreakerWatch {
  opened(cooldown: BegunCooldown): void;
  closed(): void;
  /** A failure counts. */
  failed(account: string | undefined): void;
  /** A call succeeded, and failures counted before. */
  recovered(): void;
  /** Another process has begun a cool-down, or ended one. */
  openedElsewhere(): void;
  closedElsewhere(): void;
}

/** What another process says of its breaker for the same site. */
export type ReportedOutcomes = Pick<HealthReport, 'hasSucceeded' | 'failures' | 'cooldown' | 'isBack'>;

/** Random extension of a cool-down, as a share: not all endpoints of a failed provider are tried at once. */
const JITTER = 0.2;

/** Least time between probes of a cooling site, milliseconds. */
export const PROBE_SPACING_MS = 1000;

/** How long a probe blocks others, milliseconds: a non-streamed answer may take minutes. */
export const PROBE_TIMEOUT_MS = 10_000;

/** How long no probe is tried after another process was found to make one, milliseconds. */
const PROBED_ELSEWHERE_MS = 250;

/**
 * Circuit breaker of one site. After enough failures in a row the site cools down: it gets no calls except single
 * probes from requests without another candidate. After the cool-down it is probed, one call at a time. The first
 * token of a probe puts it back into service; until a call succeeds, one more failure starts the next cool-down.
 */
export class Breaker {
  readonly #settings: () => CooldownSettings;
  readonly #random: () => number;
  readonly #tally = new FailureTally();
  readonly #watch: BreakerWatch | undefined;
  /** Cool-downs since the last success. */
  #round = 0;
  #era = 0;
  #isOpen = false;
  #coolUntilMs = 0;
  #nextProbeMs = 0;
  #probe: BreakerAdmission | undefined;
  #probeBeganMs = 0;
  #probedElsewhereUntilMs = 0;
  /** Account of the last probe that failed; undefined = none, or the connection itself failed. */
  #failedProber: string | undefined;

  constructor(settings: () => CooldownSettings, random: () => number, watch?: BreakerWatch) {
    this.#settings = settings;
    this.#random = random;
    this.#watch = watch;
  }

  /** Failures in a row, as far as they count. */
  get failures(): number {
    return this.#tally.count;
  }

  /** The failures in a row came from the connection itself, or from the requests of several accounts. */
  get isFailingForAll(): boolean {
    return this.#tally.isFromSeveral;
  }

  stateAt(nowMs: number): HealthState {
    if (!this.#isOpen) return 'ok';
    return nowMs < this.#coolUntilMs ? 'cooling' : 'probing';
  }

  /** `isLastCandidate`: the request has no other candidate. */
  admit(nowMs: number, isLastCandidate: boolean): BreakerAdmission | undefined {
    const state = this.stateAt(nowMs);
    if (state === 'ok') return { era: this.#era, isProbe: false };
    if (nowMs < this.#probedElsewhereUntilMs) return undefined;
    if (this.#probe !== undefined && nowMs < this.#probeBeganMs + PROBE_TIMEOUT_MS) return undefined;
    if (state === 'cooling' && (!isLastCandidate || nowMs < this.#nextProbeMs)) return undefined;
    const admission = { era: this.#era, isProbe: true };
    this.#probe = admission;
    this.#probeBeganMs = nowMs;
    return admission;
  }

  /** The first token has arrived. */
  answered(admission: BreakerAdmission): void {
    if (admission !== this.#probe) return;
    this.#probe = undefined;
    this.#close();
  }

  succeeded({ era }: BreakerAdmission): void {
    if (era !== this.#era) return;
    this.#probe = undefined;
    this.#close();
    if (this.#tally.count > 0 || this.#round > 0) this.#watch?.recovered();
    this.#forgetFailures();
  }

  #forgetFailures(): void {
    this.#tally.clear();
    this.#round = 0;
    this.#failedProber = undefined;
  }

  /**
   * `account`: the failure may be due to the requests of this account, so that it alone starts no cool-down; undefined
   * = it is not.
   */
  failed(admission: BreakerAdmission, nowMs: number, account?: string): void {
    if (admission.era !== this.#era) return;
    const { failures } = this.#settings();
    this.#tally.add(account, failures);
    this.#watch?.failed(account);
    const wasProbe = admission === this.#probe;
    this.release(admission);
    if (wasProbe) this.#nextProbeMs = nowMs + PROBE_SPACING_MS;
    const state = this.stateAt(nowMs);
    const opens = state === 'probing' ? this.#isNewProber(account) : this.#tally.isEnough(failures);
    if (state !== 'cooling' && opens) {
      this.#open(nowMs);
      if (!wasProbe) this.#nextProbeMs = nowMs;
    }
  }

  /** False for the account whose probe failed last: it must not prolong the cool-down of all again and again. */
  #isNewProber(account: string | undefined): boolean {
    const isNew = account === undefined || account !== this.#failedProber;
    this.#failedProber = account;
    return isNew;
  }

  /** The call ended with no verdict on the site. */
  release(admission: BreakerAdmission): void {
    if (admission === this.#probe) this.#probe = undefined;
  }

  /** The call was not made, because another process probes the site. */
  yieldProbe(admission: BreakerAdmission, nowMs: number): void {
    this.release(admission);
    this.#probedElsewhereUntilMs = nowMs + PROBED_ELSEWHERE_MS;
  }

  /**
   * Counts what another process has seen, as if it had been seen here. Whether a probe succeeded or failed is said by
   * `isBack` and `cooldown`: other outcomes are ignored while the site is out of service.
   */
  applyReport({ hasSucceeded, failures, cooldown, isBack }: ReportedOutcomes, nowMs: number): void {
    if (isBack && this.#isOpen) {
      this.#isOpen = false;
      this.#probe = undefined;
      this.#watch?.closedElsewhere();
    }
    if (cooldown !== null && cooldown.leftMs > 0) this.#applyCooldown(cooldown, nowMs);
    if (this.#isOpen) return;
    if (hasSucceeded) this.#forgetFailures();
    const threshold = this.#settings().failures;
    for (const { account, count } of failures) {
      for (let left = Math.min(count, threshold); left > 0; left--)
        this.#tally.add(account ?? undefined, threshold);
    }
    if (failures.length > 0 && this.#tally.isEnough(threshold)) {
      this.#open(nowMs);
      this.#nextProbeMs = nowMs;
    }
  }

  #applyCooldown({ leftMs, round, failures }: ReportedCooldown, nowMs: number): void {
    const untilMs = nowMs + Math.min(leftMs, this.#settings().maxMs);
    if (this.stateAt(nowMs) !== 'cooling') {
      this.#era++;
      this.#probe = undefined;
      this.#nextProbeMs = nowMs;
      this.#watch?.openedElsewhere();
    }
    this.#isOpen = true;
    this.#round = Math.max(this.#round, round);
    this.#coolUntilMs = Math.max(this.#coolUntilMs, untilMs);
    this.#tally.raiseTo(failures);
  }

  /** The cool-down in force; undefined = there is none. */
  cooldownAt(nowMs: number): ReportedCooldown | undefined {
    if (this.stateAt(nowMs) !== 'cooling') return undefined;
    return { leftMs: this.#coolUntilMs - nowMs, round: this.#round, failures: this.#tally.count };
  }

  /** Milliseconds until the site is called regularly again; 0 = now. */
  waitAt(nowMs: number): number {
    if (!this.#isOpen) return 0;
    const untilProbation = Math.max(0, this.#coolUntilMs - nowMs);
    return untilProbation === 0 && this.#probe !== undefined ? PROBE_SPACING_MS : untilProbation;
  }

  /** When the state changes without a call; infinity = never. */
  changesAt(nowMs: number): number {
    return this.stateAt(nowMs) === 'cooling' ? this.#coolUntilMs : Number.POSITIVE_INFINITY;
  }

  #open(nowMs: number): void {
    const { baseMs, maxMs } = this.#settings();
    this.#round++;
    this.#era++;
    this.#isOpen = true;
    const lengthMs = Math.min(maxMs, baseMs * this.#round * (1 + JITTER * this.#random()));
    this.#coolUntilMs = nowMs + lengthMs;
    this.#watch?.opened({ failures: this.#tally.count, lengthMs, round: this.#round });
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#watch?.closed();
  }
}
