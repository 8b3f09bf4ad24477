/** Windows of request limits: a minute that begins with its first request, or a UTC day. */
export type RateWindow = 'minute' | 'day';

/** Maximum of requests in a window. */
export interface RateLimit {
  /** Its name in messages. */
  readonly name: string;
  /** Requests with the same name and subject are counted together. */
  readonly subject: string;
  readonly window: RateWindow;
  readonly maxRequests: number;
}

/** Whether a request may pass; if not, the limit that forbids it, and when that resets (epoch milliseconds). */
export type RateVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly limit: RateLimit; readonly resetAtMs: number };

/** Counts requests. */
export interface Limiter {
  /** Counts a request against all limits; against none if one of them forbids it. */
  take(limits: readonly RateLimit[]): Promise<RateVerdict>;
}
