/** Percentiles that preferences may name. */
export type Percentile = 'p50' | 'p75' | 'p90' | 'p99';

/** Values that 50, 75, 90 and 99 of 100 generations did as well as or better. */
export type Percentiles = Readonly<Record<Percentile, number>>;

/**
 * `ok`: in service. `cooling`: failed too often in a row. `probing`: its time is up, one call at a time may try it.
 */
export type HealthState = 'ok' | 'cooling' | 'probing';

/** What is known of an endpoint at one moment. */
export interface EndpointHealth {
  readonly state: HealthState;
  /** Failures in a row. */
  readonly failures: number;
  /** A good part of the calls of the last 30 seconds failed. */
  readonly isUnstable: boolean;
  /** A rate limit holds until then, epoch milliseconds; 0 = none does. It is not called before. */
  readonly pausedUntilMs: number;
  /**
   * It failed and asked to be left alone until then, epoch milliseconds; 0 = it did not. Others are called before it.
   */
  readonly deferredUntilMs: number;
  /** Milliseconds to the first token over the last 5 minutes; undefined = nothing measured. */
  readonly latency: Percentiles | undefined;
  /** Tokens per second over the last 5 minutes; undefined = nothing measured. */
  readonly throughput: Percentiles | undefined;
  /** Share of answers with tool calls that held a broken one, 0..1; undefined = too few to tell. */
  readonly toolErrorRate: number | undefined;
}

/** Looks up health by site (`siteOf`). */
export interface HealthView {
  of(site: string): EndpointHealth;
}

/** Of an endpoint that was not called yet. */
export const UNTRIED: EndpointHealth = {
  state: 'ok',
  failures: 0,
  isUnstable: false,
  pausedUntilMs: 0,
  deferredUntilMs: 0,
  latency: undefined,
  throughput: undefined,
  toolErrorRate: undefined,
};

/** Whether nothing speaks against calling an endpoint in its place. */
export function isWell({ state, isUnstable, pausedUntilMs, deferredUntilMs }: EndpointHealth): boolean {
  return state !== 'cooling' && !isUnstable && pausedUntilMs === 0 && deferredUntilMs === 0;
}
