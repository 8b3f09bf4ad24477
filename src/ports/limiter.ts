/** Windows that requests are counted in: a minute from the first of them on, a day of UTC. */
export type RateWindow = 'minute' | 'day';

/** How many requests somebody may make in a window. */
export interface RateLimit {
  /** How messages call it. */
  readonly name: string;
  /** Whose requests are counted together; the same subject under the same name is one count. */
  readonly subject: string;
  readonly window: RateWindow;
  readonly most: number;
}

/** Whether a request may pass; if not, which limit forbids it until when (epoch milliseconds). */
export type RateVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly limit: RateLimit; readonly resetAtMs: number };

/** Counts requests. */
export interface Limiter {
  /** Counts a request against all limits, or against none where one of them forbids it. */
  take(limits: readonly RateLimit[]): RateVerdict | Promise<RateVerdict>;
}
