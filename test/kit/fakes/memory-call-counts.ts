import type {
  CallCountStore,
  HourlyCalls,
  PeriodCalls,
  SummedHours,
} from '../../../src/ports/upstreams/call-counts.ts';

/** Counts of calls in memory. */
export class MemoryCallCounts implements CallCountStore {
  readonly #rows = new Map<string, HourlyCalls>();

  async keep(runId: string, totals: readonly HourlyCalls[]): Promise<void> {
    for (const total of totals) {
      const key = `${total.hour}\n${total.site}\n${runId}`;
      const { calls, failures } = this.#rows.get(key) ?? { calls: 0, failures: 0 };
      this.#rows.set(key, {
        ...total,
        calls: Math.max(calls, total.calls),
        failures: Math.max(failures, total.failures),
      });
    }
  }

  async sums({
    fromHour,
    beforeHour,
    lastHour,
    hoursPerPeriod,
  }: SummedHours): Promise<readonly PeriodCalls[]> {
    const sums = new Map<string, PeriodCalls>();
    for (const { hour, site, calls, failures } of this.#rows.values()) {
      if (hour < fromHour || hour >= beforeHour) continue;
      const period = Math.max(0, Math.floor((lastHour - hour) / hoursPerPeriod));
      const sum = sums.get(`${period}\n${site}`) ?? { calls: 0, failures: 0 };
      sums.set(`${period}\n${site}`, {
        period,
        site,
        calls: sum.calls + calls,
        failures: sum.failures + failures,
      });
    }
    return [...sums.values()];
  }

  async pruneOldest(hour: number): Promise<number> {
    const oldest = Math.min(...[...this.#rows.values()].map((row) => row.hour));
    if (oldest >= hour) return 0;
    const due = [...this.#rows].filter(([, row]) => row.hour === oldest);
    for (const [key] of due) this.#rows.delete(key);
    return due.length;
  }
}
