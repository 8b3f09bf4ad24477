import { FairPlaces } from '../../../kit/loop/fair-places.ts';
import { forEachSliced, runInTurns, type Sliced } from '../../../kit/loop/turns.ts';
import type { ClickhouseAddress } from '../../../kit/net/clickhouse-address.ts';
import { type ServiceClient, ServiceUnreachable } from '../../../kit/net/service-client.ts';
import { METRICS, type MetricName } from '../../../ports/events/event-names.ts';
import type {
  Appended,
  AppTotals,
  Breakdown,
  BreakdownQuery,
  Conversations,
  ConversationsQuery,
  DayWindow,
  EventAnswer,
  EventBundle,
  EventQuery,
  EventRow,
  EventSizes,
  EventStore,
  GenerationEvent,
  LogCounts,
  LogCountsQuery,
  LogPage,
  LogQuery,
  MetricValue,
} from '../../../ports/events/events.ts';
import type { ClassifierTag } from '../../../ports/following/classifiers.ts';
import { OutageLog } from '../../outage-log.ts';
import { codeOf } from '../../sql/database-unavailable.ts';
import { breakdownOfQueries } from '../breakdown-of-queries.ts';
import { readConversations } from '../conversation-parts.ts';
import { DAY_MS, fitsDailySums } from '../daily-sums.ts';
import { readBundleEvents } from '../duckdb/bundle/read-bundle-events.ts';
import { EventsUnavailable, QueryTooLarge } from '../event-errors.ts';
import { firstOfEach } from '../first-of-each.ts';
import { readLogCounts, readLogPage } from '../log-parts.ts';
import { groupedValues } from '../tag-columns.ts';
import { appTotalsSql } from './app-totals.ts';
import {
  conversationFigures,
  conversationFiguresSql,
  conversationKey,
  conversationKeysSql,
  conversationModelsSql,
  modelUse,
} from './conversations-sql.ts';
import { ClickhouseClient, ClickhouseProblem } from './driver/clickhouse-client.ts';
import { bigOf, numberOf, requireColumns, wholeOf } from './driver/read-fields.ts';
import type { TextRow } from './driver/tab-separated.ts';
import { eventLine, knownIdsAtAnyTimeSql, knownIdsSql, linesByMonth } from './insert-events.ts';
import { insertTags } from './insert-tags.ts';
import { logCountsSql, loggedGeneration, logSql } from './log-sql.ts';
import { pruneEvents } from './prune-events.ts';
import { querySql } from './query-sql.ts';
import { EVENT_COLUMNS, EVENTS } from './schema.ts';
import { countOf, prunedBefore, storedSizes } from './stored-state.ts';
import { ClickhouseTables } from './tables.ts';

/** Limits of concurrent queries: the server is shared, and old ones refuse the hundred and first. */
const MAX_QUERIES = 8;
const MAX_QUERIES_PER_ACCOUNT = 2;

/** Stands for queries over all accounts. */
const ALL_ACCOUNTS = '';

/** Events per statement: the list of their ids stays far below the longest statement. */
const SLICE_EVENTS = 2_000;

/** How often a server that is away is looked for, milliseconds. */
const LOOK_MS = 2_000;

/** Errors of the server by which a query used too much: time, rows, bytes, memory. */
const TOO_LARGE: ReadonlySet<number> = new Set([158, 159, 160, 241, 307, 396]);

/** Errors of the server when tables are gone and must be created again: unknown table, unknown database. */
const TABLES_GONE: ReadonlySet<number> = new Set([60, 81]);

export interface ClickhouseEventStoreOptions {
  /** Logs problems that do not stop the gateway. */
  readonly warn?: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Called with the id of the tables when they were found or made: another id has none of the earlier events. */
  readonly onTablesFound?: (id: string) => void;
}

/** Events in the tables of a ClickHouse server, which several gateways may share. */
export class ClickhouseEventStore implements EventStore {
  /** The feeds know. */
  readonly isRefilling = false;
  readonly #client: ClickhouseClient;
  readonly #tables: ClickhouseTables;
  readonly #queries = new FairPlaces(MAX_QUERIES, MAX_QUERIES_PER_ACCOUNT);
  readonly #outage: OutageLog;
  #written: Promise<unknown> = Promise.resolve();
  /** Set while the server is away: looks for it, so that its return is noticed without traffic. */
  #looking: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isAvailable = true;

  constructor(service: ServiceClient, address: ClickhouseAddress, options: ClickhouseEventStoreOptions = {}) {
    const { warn = () => {}, now = Date.now, onTablesFound = () => {} } = options;
    this.#client = new ClickhouseClient(service, address);
    this.#tables = new ClickhouseTables(this.#client, now, onTablesFound);
    this.#outage = new OutageLog(warn, {
      begins: 'ClickHouse does not answer: analytics are unavailable, and what was settled waits for it',
      ends: 'ClickHouse answers again',
      place: { clickhouse: `${address.origin}/${address.database}` },
      // The message of the server may repeat the statement, with what callers wrote.
      cause: (error) => ({ errno: codeOf(error) }),
    });
  }

  get isAvailable(): boolean {
    return this.#isAvailable;
  }

  /** The id of the tables: it changes when they were created again, and so have none of the earlier events. */
  tablesId(): Promise<string> {
    return this.#with(() => this.#tables.ready());
  }

  append(events: readonly GenerationEvent[]): Promise<Appended> {
    return this.#inTurn((client) => add(client, events, knownIdsSql));
  }

  addTags(tags: readonly ClassifierTag[]): Promise<void> {
    return this.#inTurn(async (client) => {
      const prunedBeforeMs = await prunedBefore(client);
      await insertTags(
        client,
        tags.filter(({ createdAtMs }) => createdAtMs >= prunedBeforeMs),
      );
    });
  }

  addBundle({ file }: EventBundle): Promise<Appended> {
    return this.#inTurn(async (client) => {
      const { repeated, pages } = await readBundleEvents(file);
      const total = { added: 0, known: repeated, tooOld: 0 };
      for await (const events of pages) {
        const { added, known, tooOld } = await add(client, events, knownIdsAtAnyTimeSql);
        total.added += added;
        total.known += known;
        total.tooOld += tooOld;
      }
      return total;
    });
  }

  query(query: EventQuery, signal?: AbortSignal): Promise<EventAnswer> {
    return this.#query(query.accountId ?? ALL_ACCOUNTS, signal, async (client) => {
      const prunedBeforeMs = await prunedBefore(client, signal);
      const sql = querySql(query, prunedBeforeMs);
      const rows = await runInTurns(rowsOfAnswer(query, await client.query(sql.rows, signal)));
      const isComplete = query.groupLimit === null && rows.length < query.limit;
      const totalRows = isComplete ? rows.length : await countOf(client, sql.totalRows, signal);
      const isPruned = !fitsDailySums(query) && query.startMs < prunedBeforeMs;
      return {
        rows,
        totalRows,
        isTruncated: rows.length < totalRows,
        missingBeforeMs: isPruned ? prunedBeforeMs : null,
      };
    });
  }

  breakdown(query: BreakdownQuery, signal?: AbortSignal): Promise<Breakdown> {
    return breakdownOfQueries(this, query, signal);
  }

  log(query: LogQuery, signal?: AbortSignal): Promise<LogPage> {
    return this.#query(query.accountId, signal, async (client) => {
      const prunedBeforeMs = await prunedBefore(client, signal);
      return readLogPage(query, async (part) =>
        (await client.query(logSql(part, prunedBeforeMs), signal)).map(loggedGeneration),
      );
    });
  }

  logCounts(query: LogCountsQuery, signal?: AbortSignal): Promise<LogCounts> {
    return this.#query(query.accountId, signal, async (client) => {
      const prunedBeforeMs = await prunedBefore(client, signal);
      const counts = await readLogCounts(query, async (part) =>
        (await client.query(logCountsSql(part, prunedBeforeMs), signal)).map(
          ([start, count, failed, refused, refusedRequests]) => ({
            startMs: wholeOf(start),
            count: wholeOf(count),
            failed: wholeOf(failed),
            refused: wholeOf(refused),
            refusedRequests: wholeOf(refusedRequests),
          }),
        ),
      );
      return { ...counts, missingBeforeMs: query.fromMs < prunedBeforeMs ? prunedBeforeMs : null };
    });
  }

  conversations(query: ConversationsQuery, signal?: AbortSignal): Promise<Conversations> {
    return this.#query(query.accountId, signal, async (client) => {
      const prunedMs = await prunedBefore(client, signal);
      const ask = (sql: string) => client.query(sql, signal);
      const conversations = await readConversations(query, {
        page: async (part, last) =>
          (await ask(conversationKeysSql(part, last, prunedMs))).map(conversationKey),
        figures: async (ids) =>
          (await ask(conversationFiguresSql(query, ids, prunedMs))).map(conversationFigures),
        models: async (ids) => (await ask(conversationModelsSql(query, ids, prunedMs))).map(modelUse),
      });
      return { conversations, missingBeforeMs: query.fromMs < prunedMs ? prunedMs : null };
    });
  }

  async appTotals(windows: readonly DayWindow[], signal?: AbortSignal): Promise<AppTotals> {
    if (windows.length === 0) return { apps: [], tokens: [], requests: [] };
    return this.#query(ALL_ACCOUNTS, signal, async (client) => {
      const rows = await client.query(appTotalsSql(windows, await prunedBefore(client, signal)), signal);
      const column = (place: number) => rows.map((row) => bigOf(row[place]));
      return {
        apps: rows.map(([app]) => app ?? ''),
        tokens: windows.map((_, window) => column(1 + window)),
        requests: windows.map((_, window) => column(1 + windows.length + window)),
      };
    });
  }

  prune(beforeMs: number): Promise<number> {
    const before = beforeMs - (beforeMs % DAY_MS);
    return this.#inTurn(async (client) => pruneEvents(client, await prunedBefore(client), before));
  }

  async sizes(): Promise<EventSizes> {
    return this.#with(storedSizes);
  }

  /** A backup of the data directory has none of these events: the server has its own. */
  async copyTo(): Promise<boolean> {
    return false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#looking);
    // Ends open statements: what was not acknowledged is sent again.
    this.#client.close();
    await this.#written;
    this.#outage.close();
  }

  #query<Result>(
    accountId: string,
    signal: AbortSignal | undefined,
    work: (client: ClickhouseClient) => Promise<Result>,
  ): Promise<Result> {
    return this.#queries.within(accountId, signal, () => this.#with(work));
  }

  /** Runs writes one after another. */
  #inTurn<Result>(work: (client: ClickhouseClient) => Promise<Result>): Promise<Result> {
    const done = this.#written.then(() => this.#with(work));
    this.#written = done.catch(() => {});
    return done;
  }

  async #with<Result>(work: (client: ClickhouseClient) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new EventsUnavailable(new Error('the events are closed'));
    try {
      await this.#tables.ready();
      const result = await work(this.#client);
      this.#isAvailable = true;
      clearInterval(this.#looking);
      this.#looking = undefined;
      this.#outage.worked();
      return result;
    } catch (error) {
      throw this.#problemOf(error);
    }
  }

  #problemOf(error: unknown): unknown {
    if (error instanceof ClickhouseProblem && TOO_LARGE.has(error.number)) return new QueryTooLarge();
    if (error instanceof ClickhouseProblem && TABLES_GONE.has(error.number)) this.#tables.forget();
    if (!(error instanceof ClickhouseProblem || error instanceof ServiceUnreachable)) return error;
    if (this.#isClosed) return new EventsUnavailable(error);
    this.#isAvailable = false;
    this.#outage.failed(error);
    this.#looking ??= setInterval(() => {
      this.#with(prunedBefore).catch(() => {});
    }, LOOK_MS).unref();
    return new EventsUnavailable(error);
  }
}

/** Inserts the events that are not stored. Nothing is inserted if one of them does not fit. */
async function add(
  client: ClickhouseClient,
  events: readonly GenerationEvent[],
  knownSql: (events: readonly GenerationEvent[]) => string,
): Promise<Appended> {
  const distinct = firstOfEach(events);
  const prunedBeforeMs = await prunedBefore(client);
  const recent = distinct.filter(({ createdAtMs }) => createdAtMs >= prunedBeforeMs);
  const fresh: GenerationEvent[] = [];
  for (let begin = 0; begin < recent.length; begin += SLICE_EVENTS) {
    const slice = recent.slice(begin, begin + SLICE_EVENTS);
    const stored = new Set((await client.query(knownSql(slice))).map(([id]) => id));
    for (const event of slice) if (!stored.has(event.id)) fresh.push(event);
  }
  for (const lines of (await runInTurns(linesByMonth(fresh, eventLine))).values()) {
    await client.insert(EVENTS, EVENT_COLUMNS, `${lines.join('\n')}\n`);
  }
  const tooOld = distinct.length - recent.length;
  return { added: fresh.length, known: events.length - tooOld - fresh.length, tooOld };
}

function* rowsOfAnswer(query: EventQuery, texts: readonly TextRow[]): Sliced<EventRow[]> {
  const metricsFrom = 1 + groupedValues(query);
  const rows: EventRow[] = [];
  yield* forEachSliced(texts, (row) => {
    requireColumns(row, metricsFrom + query.metrics.length);
    const [bucket = null] = row;
    rows.push({
      bucketMs: bucket === null ? null : wholeOf(bucket),
      dimensions: row.slice(1, metricsFrom),
      metrics: query.metrics.map((name, index) => metricOf(name, row[metricsFrom + index] ?? null)),
    });
  });
  return rows;
}

const WHOLE_UNITS: ReadonlySet<string> = new Set(['count', 'money']);

function metricOf(name: MetricName, text: string | null): MetricValue {
  if (text === null) return null;
  return WHOLE_UNITS.has(METRICS[name].unit) ? bigOf(text) : numberOf(text);
}
