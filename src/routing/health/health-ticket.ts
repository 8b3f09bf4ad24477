import type { Clock } from '../../kit/time/clock.ts';
import type { BreakerAdmission } from './breaker.ts';
import type { SiteHealth } from './site-health.ts';

/** What a whole answer was like. */
export interface TicketSuccess {
  readonly outputTokens: number;
  /** `bad`: the answer held a tool call that cannot be run. */
  readonly toolCalls: 'none' | 'good' | 'bad';
}

/** How a call failed. */
export interface TicketFailure {
  /** The site is to blame, not the request. */
  readonly counts: boolean;
  /** How long the upstream asked to be left alone. */
  readonly retryAfterMs?: number;
  readonly isRateLimit: boolean;
}

/** Throughput is measured only on answers that are long enough. */
const LEAST_TOKENS = 2;
const LEAST_MS = 1;

/** What a call is made from. */
export interface TicketParts {
  readonly site: SiteHealth;
  readonly admission: BreakerAdmission;
  readonly clock: Clock;
  /** A retry that the budget counts. */
  readonly isCounted: boolean;
}

/**
 * One call of a site, from the leave to make it to its end. Ends exactly once: with success, failure, or without
 * telling anything about the site (`abandoned`); what is said after that has no effect.
 */
export class HealthTicket {
  readonly #site: SiteHealth;
  readonly #admission: BreakerAdmission;
  readonly #clock: Clock;
  readonly #beganMs: number;
  #firstTokenMs: number | undefined;
  #writtenFromMs = 0;
  #isCounted: boolean;
  #isOver = false;

  constructor({ site, admission, clock, isCounted }: TicketParts) {
    this.#site = site;
    this.#admission = admission;
    this.#clock = clock;
    this.#isCounted = isCounted;
    this.#beganMs = clock.monotonic();
    site.openCalls++;
    site.retries.beginCall();
    if (isCounted) site.retries.beginRetry();
  }

  /** The first content came: of a stream its beginning, of an answer that comes whole all of it. */
  firstToken(kind: 'stream' | 'whole' = 'stream'): void {
    if (this.#isOver || this.#firstTokenMs !== undefined) return;
    const nowMs = this.#clock.monotonic();
    const { breaker, measurements } = this.#site;
    this.#firstTokenMs = nowMs;
    // A whole answer was written before it came.
    this.#writtenFromMs = kind === 'whole' ? this.#beganMs : nowMs;
    measurements.addCall(nowMs);
    measurements.addLatency(nowMs - this.#beganMs, nowMs);
    breaker.answered(this.#admission);
    this.#site.failedLast = false;
    this.#site.changed();
    this.#endRetry();
  }

  succeeded({ outputTokens, toolCalls }: TicketSuccess): void {
    if (!this.#end()) return;
    const nowMs = this.#clock.monotonic();
    const { breaker, measurements } = this.#site;
    if (this.#firstTokenMs === undefined) measurements.addCall(nowMs);
    else this.#measure(outputTokens, nowMs - this.#writtenFromMs, nowMs);
    if (toolCalls !== 'none') measurements.addToolAnswer(toolCalls === 'bad', nowMs);
    breaker.succeeded(this.#admission);
    this.#site.failedLast = false;
    this.#site.changed();
  }

  /**
   * A rate limit that says for how long pauses the site instead of counting towards a cool-down; any other failure
   * that counts does, after the first token too. One that says for how long also puts the site behind others.
   */
  failed({ counts, retryAfterMs = 0, isRateLimit }: TicketFailure): void {
    if (!this.#end()) return;
    const nowMs = this.#clock.monotonic();
    const { breaker, measurements } = this.#site;
    const isPause = isRateLimit && retryAfterMs > 0;
    if (isPause) this.#site.pause.grant(retryAfterMs);
    if (counts && !isPause) this.#site.deferral.grant(retryAfterMs);
    if (counts) {
      if (this.#firstTokenMs === undefined) measurements.addCall(nowMs);
      measurements.addFailure(nowMs);
      this.#site.failedLast = true;
    }
    if (counts && !isPause) breaker.failed(this.#admission, nowMs);
    else breaker.release(this.#admission);
    this.#site.changed();
  }

  /** The caller has left. */
  abandoned(): void {
    if (!this.#end()) return;
    this.#site.breaker.release(this.#admission);
  }

  #measure(tokens: number, durationMs: number, nowMs: number): void {
    if (tokens < LEAST_TOKENS || durationMs < LEAST_MS) return;
    this.#site.measurements.addThroughput((tokens * 1000) / durationMs, nowMs);
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#site.openCalls--;
    this.#site.retries.endCall();
    this.#endRetry();
    return true;
  }

  #endRetry(): void {
    if (this.#isCounted) this.#site.retries.endRetry();
    this.#isCounted = false;
  }
}
