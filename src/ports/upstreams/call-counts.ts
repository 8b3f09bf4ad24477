/** Calls of an endpoint, and those of them that failed by the fault of the endpoint. */
export interface CountedCalls {
  /** Key of the endpoint (`siteOfEndpoint`). */
  readonly site: string;
  readonly calls: number;
  readonly failures: number;
}

export interface HourlyCalls extends CountedCalls {
  /** Whole hours since the epoch. */
  readonly hour: number;
}

export interface PeriodCalls extends CountedCalls {
  /** 0 = the newest period, 1 = the one before. */
  readonly period: number;
}

/** Hours that are summed into periods of equal length. */
export interface SummedHours {
  readonly fromHour: number;
  readonly beforeHour: number;
  /** The last hour of period 0. Later hours count there too: clocks of gateways differ. */
  readonly lastHour: number;
  readonly hoursPerPeriod: number;
}

/** Counts of calls by endpoint and hour, of all gateways of an installation. */
export interface CallCountStore {
  /**
   * Stores what one run of a gateway has counted in each hour so far: totals, not increments, so that storing them
   * again has no effect. A total below the stored one has none either: it comes from a statement that was late.
   */
  keep(runId: string, totals: readonly HourlyCalls[]): Promise<void>;
  /** Sums over all runs. Endpoints and periods without calls are left out. */
  sums(hours: SummedHours): Promise<readonly PeriodCalls[]>;
  /** Removes the oldest hour if it is before `hour`. Resolves with the number of rows; 0 = nothing is left to do. */
  pruneOldest(hour: number): Promise<number>;
}
