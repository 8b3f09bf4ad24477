/** Windows of limits: a minute that begins with what is counted first in it, or a UTC day. */
export type RateWindow = 'minute' | 'day';

/** What a limit counts: requests when they begin, tokens when their generation is settled. */
export type RateUnit = 'requests' | 'tokens';

/** What is counted together: the same name and subject, in one window. */
export interface RateCounter {
  /** Its name in messages. */
  readonly name: string;
  /** The key or the account. */
  readonly subject: string;
  readonly window: RateWindow;
}

export interface RateLimit extends RateCounter {
  readonly unit: RateUnit;
  readonly max: number;
}

export interface RateCount extends RateCounter {
  readonly amount: number;
}

/** Whether a request may pass; if not, the limit that forbids it, and when that resets (epoch milliseconds). */
export type RateVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly limit: RateLimit; readonly resetAtMs: number };

/** Counts requests and tokens. Arguments and results are plain data: a limiter may be in another process. */
export interface Limiter {
  /**
   * Counts a request against all limits of requests, against none if a limit forbids it. Limits of tokens forbid
   * requests once as many tokens are counted.
   */
  take(limits: readonly RateLimit[]): Promise<RateVerdict>;
  /** Adds what is known only afterwards: the tokens of settled generations. */
  add(counts: readonly RateCount[]): Promise<void>;
}
