import { type Kysely, sql } from 'kysely';
import type {
  CallCountStore,
  HourlyCalls,
  PeriodCalls,
  SummedHours,
} from '../../../ports/upstreams/call-counts.ts';
import type { Tables } from '../tables.ts';

/** Rows of one statement: each has five parameters, and engines limit their number. */
const ROWS_PER_STATEMENT = 1_000;

export class SqlCallCountStore implements CallCountStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async keep(runId: string, totals: readonly HourlyCalls[]): Promise<void> {
    for (let from = 0; from < totals.length; from += ROWS_PER_STATEMENT) {
      const rows = totals.slice(from, from + ROWS_PER_STATEMENT);
      await this.#database
        .insertInto('endpoint_calls')
        .values(
          rows.map(({ hour, site, calls, failures }) => ({ hour, site, run_id: runId, calls, failures })),
        )
        .onConflict((conflict) =>
          conflict.columns(['hour', 'site', 'run_id']).doUpdateSet({
            calls: higherOf('calls'),
            failures: higherOf('failures'),
          }),
        )
        .execute();
    }
  }

  async sums({
    fromHour,
    beforeHour,
    lastHour,
    hoursPerPeriod,
  }: SummedHours): Promise<readonly PeriodCalls[]> {
    // The cast cuts off fractions in SQLite, which gets parameters as floating-point numbers. An hour ahead is -0.04.
    const period = sql<bigint>`cast((${lastHour} - hour) / ${hoursPerPeriod} as bigint)`;
    const rows = await this.#database
      .selectFrom((from) =>
        from
          .selectFrom('endpoint_calls')
          .select(['site', 'calls', 'failures', period.as('period')])
          .where('hour', '>=', fromHour)
          .where('hour', '<', beforeHour)
          .as('counted'),
      )
      .select(({ fn }) => [
        'period',
        'site',
        fn.sum<string>('calls').as('calls'),
        fn.sum<string>('failures').as('failures'),
      ])
      .groupBy(['period', 'site'])
      .execute();
    return rows.map(({ period: at, site, calls, failures }) => ({
      period: Number(at),
      site,
      calls: Number(calls),
      failures: Number(failures),
    }));
  }

  async pruneOldest(hour: number): Promise<number> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('endpoint_calls')
      .where('hour', '<', hour)
      .where('hour', '=', (from) =>
        from.selectFrom('endpoint_calls').select(({ fn }) => fn.min('hour').as('oldest')),
      )
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }
}

function higherOf(column: 'calls' | 'failures') {
  const stored = sql.ref(`endpoint_calls.${column}`);
  const given = sql.ref(`excluded.${column}`);
  return sql<number>`case when ${given} > ${stored} then ${given} else ${stored} end`;
}
