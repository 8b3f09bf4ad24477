import { stat } from 'node:fs/promises';
import { METRICS, type MetricName } from '../../ports/event-names.ts';
import type {
  Appended,
  EventAnswer,
  EventQuery,
  EventRow,
  EventSizes,
  EventStore,
  GenerationEvent,
  MetricValue,
} from '../../ports/events.ts';
import { DatabaseUnavailable } from '../sql/database-unavailable.ts';
import { columnsOf } from './columns.ts';
import { type DuckdbRows, DuckdbThread } from './duckdb-thread.ts';
import { isOfDays, querySql, type Statement } from './query-sql.ts';
import { DAY_MS, PRUNE, PRUNED_BEFORE, SCHEMA, STAGED_TYPES, TAKE_IN } from './schema.ts';

/** Nothing is loaded from outside, and idle memory stays small. */
const OPTIONS = {
  threads: '2',
  memory_limit: '512MB',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
};

/** Events that are handed over in one message: copying them must not hold up the loop. */
const SLICE = 1_000;

/** Events in a file of DuckDB, in a thread that is started on first use and again after it ended. */
export class DuckdbEventStore implements EventStore {
  readonly #file: string;
  #thread: DuckdbThread | undefined;
  #appended: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(file: string) {
    this.#file = file;
  }

  append(events: readonly GenerationEvent[]): Promise<Appended> {
    const appended = this.#appended.then(() => this.#append(events));
    this.#appended = appended.catch(() => {});
    return appended;
  }

  async query(query: EventQuery, signal?: AbortSignal): Promise<EventAnswer> {
    const rows = await this.#open().query(querySql(query), signal);
    return { ...answerOf(query, rows), missingBeforeMs: await this.#missingBefore(query) };
  }

  async prune(beforeMs: number): Promise<number> {
    const before = BigInt(beforeMs - (beforeMs % DAY_MS));
    const [removed] = await this.#open().transact([
      { sql: PRUNE.removeEvents, parameters: { before } },
      { sql: PRUNE.noteBorder, parameters: { before } },
      ...[PRUNE.gather, PRUNE.removeGathered, PRUNE.addGathered, PRUNE.dropGathered].map(plain),
    ]);
    return countOf(removed);
  }

  async sizes(): Promise<EventSizes> {
    const rows = await this.#open().query(
      plain('SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM daily)'),
    );
    const [events, dailyRows] = rows[0] ?? [];
    const bytes = await Promise.all([bytesOf(this.#file), bytesOf(`${this.#file}.wal`)]);
    return { events: Number(events), dailyRows: Number(dailyRows), bytes: bytes[0] + bytes[1] };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#appended;
    await this.#thread?.close();
  }

  async #missingBefore(query: EventQuery): Promise<number | null> {
    if (isOfDays(query)) return null;
    const prunedBeforeMs = countOf(await this.#open().query(plain(PRUNED_BEFORE)));
    return query.startMs < prunedBeforeMs ? prunedBeforeMs : null;
  }

  #open(): DuckdbThread {
    if (this.#isClosed) throw new DatabaseUnavailable(new Error('the events are closed'));
    if (this.#thread === undefined || this.#thread.isEnded) {
      this.#thread = new DuckdbThread({
        file: this.#file,
        options: OPTIONS,
        schema: SCHEMA,
        staged: { table: 'staged', types: STAGED_TYPES },
      });
    }
    return this.#thread;
  }

  async #append(events: readonly GenerationEvent[]): Promise<Appended> {
    const distinct = [...new Map(events.map((event) => [event.id, event])).values()];
    if (distinct.length === 0) return { added: 0, known: 0, tooOld: 0 };
    const thread = this.#open();
    let first = Number.POSITIVE_INFINITY;
    let last = 0;
    // What an append that failed has left there.
    await thread.transact([plain(TAKE_IN.empty)]);
    for (let begin = 0; begin < distinct.length; begin += SLICE) {
      const slice = distinct.slice(begin, begin + SLICE);
      for (const { createdAtMs } of slice) {
        first = Math.min(first, createdAtMs);
        last = Math.max(last, createdAtMs);
      }
      await thread.stage(columnsOf(slice));
    }
    const [tooOld, known, , added] = await thread.transact([
      plain(TAKE_IN.dropTooOld),
      { sql: TAKE_IN.dropKnown, parameters: { first: BigInt(first), last: BigInt(last) } },
      plain(TAKE_IN.addDaily),
      plain(TAKE_IN.addEvents),
      plain(TAKE_IN.empty),
    ]);
    return {
      added: countOf(added),
      known: countOf(known) + events.length - distinct.length,
      tooOld: countOf(tooOld),
    };
  }
}

function plain(sql: string): Statement {
  return { sql, parameters: {} };
}

/** How many rows a statement says that it changed. */
function countOf(rows: DuckdbRows | undefined): number {
  return Number(rows?.[0]?.[0] ?? 0);
}

async function bytesOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

function answerOf(query: EventQuery, rows: DuckdbRows): Omit<EventAnswer, 'missingBeforeMs'> {
  const metricsFrom = 1 + query.dimensions.length;
  const metricsTo = metricsFrom + query.metrics.length;
  const [total = 0, groups = 0] = (rows[0]?.slice(metricsTo) ?? []).map(Number);
  const read = rows.map(
    (row): EventRow => ({
      bucketMs: row[0] === null ? null : Number(row[0]),
      dimensions: row.slice(1, metricsFrom) as (string | null)[],
      metrics: query.metrics.map((name, index) => metricOf(name, row[metricsFrom + index])),
    }),
  );
  return {
    rows: read,
    totalRows: total,
    groups,
    isTruncated: read.length < total,
  };
}

const WHOLE_UNITS: ReadonlySet<string> = new Set(['count', 'money']);

function metricOf(name: MetricName, value: unknown): MetricValue {
  if (value === null || value === undefined) return null;
  return WHOLE_UNITS.has(METRICS[name].unit) ? BigInt(value as bigint) : Number(value);
}
