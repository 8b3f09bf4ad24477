import type { Clock } from '../../kit/time/clock.ts';
import type { AccountHealth } from './account-health.ts';
import { type BreakerAdmission, PROBE_SPACING_MS } from './breaker.ts';
import type { ProbeRights } from './probe-rights.ts';
import type { FailureCause } from './service-watch.ts';
import type { SiteHealth } from './site-health.ts';

export interface TicketSuccess {
  readonly outputTokens: number;
  /** `bad`: the answer has a tool call that cannot be run. */
  readonly toolCalls: 'none' | 'good' | 'bad';
}

export interface TicketFailure {
  /** The failure is the site's, not the request's. */
  readonly counts: boolean;
  /** No connection to the site was made, which no request can bring about. */
  readonly isConnection?: boolean;
  /** Retry-after of the upstream. */
  readonly retryAfterMs?: number;
  readonly isRateLimit: boolean;
  /** The cause, for the log. */
  readonly cause?: FailureCause;
}

/** Throughput of shorter answers is not measured. */
const MIN_MEASURED_TOKENS = 2;
const MIN_MEASURED_MS = 1;

export interface TicketAccount {
  readonly id: string;
  /** Undefined until a call of the account fails there. */
  health: AccountHealth | undefined;
  readonly admission: BreakerAdmission;
  /** Makes `health`, at the first failure. */
  addHealth(): AccountHealth;
}

export interface TicketMembers {
  readonly site: SiteHealth;
  readonly admission: BreakerAdmission;
  readonly clock: Clock;
  /** The call is a retry that the retry budget counts. */
  readonly isCounted: boolean;
  /** Undefined = a failure counts for all. */
  readonly account: TicketAccount | undefined;
  /** Set if the call is a probe that other processes must not make at the same time. */
  readonly probe: TicketProbe | undefined;
}

/** The places that a call probes, and where the right to do so comes from. */
export interface TicketProbe {
  readonly places: readonly string[];
  readonly rights: ProbeRights;
}

/**
 * The permission to make one call to a site, and the report of its outcome. It ends once, with `succeeded`, `failed` or
 * `abandoned` (no verdict); later reports have no effect.
 */
export class HealthTicket {
  readonly #site: SiteHealth;
  readonly #admission: BreakerAdmission;
  readonly #account: TicketAccount | undefined;
  readonly #clock: Clock;
  readonly #beganMs: number;
  #firstTokenMs: number | undefined;
  #writtenFromMs = 0;
  #isCounted: boolean;
  #isOver = false;
  #cooldownMs: number | undefined;
  readonly #probe: TicketProbe | undefined;
  /** Places whose right to probe this call has. */
  #probedPlaces: readonly string[] = [];

  constructor({ site, admission, clock, isCounted, account, probe }: TicketMembers) {
    this.#site = site;
    this.#admission = admission;
    this.#account = account;
    this.#clock = clock;
    this.#isCounted = isCounted;
    this.#probe = probe;
    this.#beganMs = clock.monotonic();
    site.openCalls++;
    site.retries.beginCall();
    if (isCounted) site.retries.beginRetry();
  }

  /** How long the site is out of service because of the failure of this call, milliseconds; undefined = it is not. */
  get cooldownMs(): number | undefined {
    return this.#cooldownMs;
  }

  /** If true, `takeProbe` must be asked before the call is made. */
  get needsRight(): boolean {
    return this.#probe !== undefined;
  }

  /** Takes the right to probe. If another process has it, the call must not be made, and the ticket is over. */
  async takeProbe(): Promise<boolean> {
    const { places, rights } = this.#probe ?? NO_PROBE;
    for (const [at, place] of places.entries()) {
      if (await rights.take(place)) continue;
      for (const taken of places.slice(0, at)) rights.end(taken, 0);
      this.#yield();
      return false;
    }
    if (this.#isOver) for (const place of places) rights.end(place, 0);
    else this.#probedPlaces = places;
    return true;
  }

  /** The first content of a stream, or a whole non-streamed answer, has arrived. */
  firstToken(kind: 'stream' | 'whole' = 'stream'): void {
    if (this.#isOver || this.#firstTokenMs !== undefined) return;
    const nowMs = this.#clock.monotonic();
    const { breaker, measurements } = this.#site;
    this.#firstTokenMs = nowMs;
    // A whole answer was generated since the call began.
    this.#writtenFromMs = kind === 'whole' ? this.#beganMs : nowMs;
    measurements.addCall(nowMs);
    measurements.addLatency(nowMs - this.#beganMs, nowMs);
    breaker.answered(this.#admission);
    this.#account?.health?.breaker.answered(this.#account.admission);
    this.#endProbe(0);
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
    this.#account?.health?.breaker.succeeded(this.#account.admission);
    this.#endProbe(0);
    this.#site.failedLast = false;
    this.#site.changed();
  }

  /**
   * A rate limit with a retry-after pauses the site and does not count towards a cool-down. Any other failure that
   * `counts` does, also after the first token; with a retry-after it also defers the site. A failure that may be due to
   * the requests of its account does so for that account; for all only together with other accounts.
   */
  failed({ counts, isConnection = false, retryAfterMs = 0, isRateLimit, cause }: TicketFailure): void {
    if (!this.#end()) return;
    const nowMs = this.#clock.monotonic();
    const { measurements } = this.#site;
    const isPause = isRateLimit && retryAfterMs > 0;
    if (isPause) {
      this.#site.pauseFor(retryAfterMs, cause);
      this.#cooldownMs = retryAfterMs;
    }
    if (counts && this.#firstTokenMs === undefined) measurements.addCall(nowMs);
    if (counts) this.#site.failedLast = true;
    if (counts && !isPause) {
      this.#site.service.cause = cause;
      this.#blame(isConnection ? undefined : this.#account, retryAfterMs, nowMs);
    } else this.#release();
    if (counts && isPause) measurements.addFailure(nowMs);
    this.#endProbe(counts ? PROBE_SPACING_MS : 0);
    this.#site.changed();
  }

  /** The caller disconnected: no verdict. */
  abandoned(): void {
    if (!this.#end()) return;
    this.#release();
    this.#endProbe(0);
  }

  /** `account`: whose requests the failure may be due to; undefined = it is due to the site. */
  #blame(account: TicketAccount | undefined, retryAfterMs: number, nowMs: number): void {
    const { breaker, measurements } = this.#site;
    const wasCooling = breaker.stateAt(nowMs) === 'cooling';
    breaker.failed(this.#admission, nowMs, account?.id);
    if (!wasCooling) this.#cooldownMs = breaker.cooldownAt(nowMs)?.leftMs;
    if (account === undefined) this.#releaseAccount();
    else {
      account.health ??= account.addHealth();
      account.health.service.cause = this.#site.service.cause;
      const own = account.health.breaker;
      const wasOwnCooling = own.stateAt(nowMs) === 'cooling';
      account.health.failed(account.admission, retryAfterMs);
      if (!wasOwnCooling) this.#cooldownMs ??= own.cooldownAt(nowMs)?.leftMs;
    }
    const isForAll = account === undefined || breaker.isFailingForAll;
    measurements.addFailure(nowMs, !isForAll);
    if (isForAll) this.#site.deferFor(retryAfterMs);
  }

  #endProbe(keepMs: number): void {
    for (const place of this.#probedPlaces) this.#probe?.rights.end(place, keepMs);
    this.#probedPlaces = [];
  }

  #yield(): void {
    if (!this.#end()) return;
    const nowMs = this.#clock.monotonic();
    this.#site.breaker.yieldProbe(this.#admission, nowMs);
    this.#account?.health?.breaker.yieldProbe(this.#account.admission, nowMs);
  }

  #release(): void {
    this.#site.breaker.release(this.#admission);
    this.#releaseAccount();
  }

  #releaseAccount(): void {
    this.#account?.health?.breaker.release(this.#account.admission);
  }

  #measure(tokens: number, durationMs: number, nowMs: number): void {
    if (tokens < MIN_MEASURED_TOKENS || durationMs < MIN_MEASURED_MS) return;
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

const NO_PROBE: TicketProbe = { places: [], rights: { take: async () => true, end: () => {} } };
