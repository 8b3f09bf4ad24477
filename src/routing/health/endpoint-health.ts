/** Percentiles that preferences may name. */
export type Percentile = 'p50' | 'p75' | 'p90' | 'p99';

/** Values that 50, 75, 90 and 99 of 100 generations reached or bettered. */
export type Percentiles = Readonly<Record<Percentile, number>>;

/**
 * `ok`: in service. `cooling`: failed too often in a row. `probing`: after the cool-down, one call at a time.
 */
export type HealthState = 'ok' | 'cooling' | 'probing';

export interface EndpointHealth {
  readonly state: HealthState;
  /** A state other than `ok` holds only for the account that asks: only its requests failed. */
  readonly isOfAccount: boolean;
  /** Failures in a row. */
  readonly failures: number;
  /** At least a fifth of the calls of the last 30 seconds failed. */
  readonly isUnstable: boolean;
  /** End of a rate limit, epoch milliseconds; 0 = none. No calls before it. */
  readonly pausedUntilMs: number;
  /** End of a retry-after of another failure, epoch milliseconds; 0 = none. Before it other candidates go first. */
  readonly deferredUntilMs: number;
  /** Milliseconds to the first token over the last 5 minutes; undefined = nothing measured. */
  readonly latency: Percentiles | undefined;
  /** Tokens per second over the last 5 minutes; undefined = nothing measured. */
  readonly throughput: Percentiles | undefined;
  /** Share of answers with tool calls that had a broken one, 0..1; undefined = too few answers. */
  readonly toolErrorRate: number | undefined;
}

/** Looks up health by site (`siteOf`). */
export interface HealthView {
  of(site: string): EndpointHealth;
}

/** Health of a site that was not called yet. */
export const UNTRIED: EndpointHealth = {
  state: 'ok',
  isOfAccount: false,
  failures: 0,
  isUnstable: false,
  pausedUntilMs: 0,
  deferredUntilMs: 0,
  latency: undefined,
  throughput: undefined,
  toolErrorRate: undefined,
};

/** True if an endpoint can be called at its rank. */
export function isHealthy({ state, isUnstable, pausedUntilMs, deferredUntilMs }: EndpointHealth): boolean {
  return state !== 'cooling' && !isUnstable && pausedUntilMs === 0 && deferredUntilMs === 0;
}
