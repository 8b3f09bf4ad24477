import { existsSync } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { FairPlaces } from '../../../kit/loop/fair-places.ts';
import { runInTurns } from '../../../kit/loop/turns.ts';
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
  EventSizes,
  EventStore,
  GenerationEvent,
  LogCounts,
  LogCountsQuery,
  LogPage,
  LogQuery,
  WholeNumbers,
} from '../../../ports/events/events.ts';
import type { ClassifierTag } from '../../../ports/following/classifiers.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import { readConversations } from '../conversation-parts.ts';
import { DAY_MS, fitsDailySums } from '../daily-sums.ts';
import { EventsUnavailable, QueryTooLarge } from '../event-errors.ts';
import { firstOfEach } from '../first-of-each.ts';
import { readLogCounts, readLogPage } from '../log-parts.ts';
import { AppTotalsCache, appTotalsSql, KnownApps } from './app-totals.ts';
import { breakdownSql } from './breakdown-sql.ts';
import { insertBundle } from './bundle/event-bundle.ts';
import {
  conversationFigures,
  conversationFiguresSql,
  conversationKey,
  conversationKeysSql,
  conversationModelsSql,
  modelUse,
} from './conversations-sql.ts';
import { copyDatabase } from './driver/copy-database.ts';
import { DuckdbFileDamaged, isOutOfMemory } from './driver/duckdb-errors.ts';
import { DUCKDB_OPTIONS, type DuckdbRows, DuckdbThread } from './driver/duckdb-thread.ts';
import { plain, type Statement, statementsOf } from './driver/statement.ts';
import { answerOf, breakdownOf } from './event-answers.ts';
import { appendedOf, insertStatements, STAGED } from './insert-events.ts';
import { insertTags } from './insert-tags.ts';
import { logCountsSql, loggedGenerations, logSql } from './log-sql.ts';
import { LogTermsReader } from './log-terms.ts';
import { querySql } from './query-sql.ts';
import { ALL_DAILY, COMPACT, PRUNE, SCHEMA, SCHEMA_UPGRADES, SCHEMA_VERSION } from './schema.ts';
import { SeriesCache, stageEvents } from './stage-events.ts';
import { PrunedBefore } from './stored-state.ts';

/** Default of `compactAfterEvents`. */
const COMPACT_AFTER_EVENTS = 200_000;

/**
 * Limits of concurrent queries. Each query takes one of the four threads of libuv's pool, and a write takes another:
 * the journal needs the rest.
 */
const MAX_QUERIES = 2;
const MAX_QUERIES_PER_ACCOUNT = 1;

/** Stands for queries over all accounts. */
const ALL_ACCOUNTS = '';

export interface DuckdbEventStoreOptions {
  /** Number of new events after which sums are compacted; 200,000 by default. */
  readonly compactAfterEvents?: number;
  /** Logs problems that do not stop the gateway. */
  readonly warn?: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Called when a new file was created, because there was none or it was damaged: feed all events again. */
  readonly onFileCreated?: () => void;
}

/** Events in a DuckDB file, used by a worker thread that is started on demand. */
export class DuckdbEventStore implements EventStore {
  /** The feeds know. */
  readonly isRefilling = false;
  readonly #file: string;
  readonly #options: DuckdbEventStoreOptions;
  #thread: DuckdbThread | undefined;
  /** Caches of the file that the thread has open. */
  #knownSeries = new SeriesCache();
  #appTotals = new AppTotalsCache();
  #knownApps = new KnownApps();
  #prunedBefore = new PrunedBefore();
  #settingAside: Promise<void> | undefined;
  /** Set aside only once: if the new file is damaged too, the cause is elsewhere. */
  #hasSetAside = false;
  #written: Promise<unknown> = Promise.resolve();
  readonly #queries = new FairPlaces(MAX_QUERIES, MAX_QUERIES_PER_ACCOUNT);
  #addedSinceCompact = 0;
  #isClosed = false;
  #isAvailable = true;

  constructor(file: string, options: DuckdbEventStoreOptions = {}) {
    this.#file = file;
    this.#options = options;
  }

  get isAvailable(): boolean {
    return this.#isAvailable;
  }

  append(events: readonly GenerationEvent[]): Promise<Appended> {
    return this.#inTurn((thread) => this.#append(thread, events));
  }

  addTags(tags: readonly ClassifierTag[]): Promise<void> {
    if (tags.length === 0) return Promise.resolve();
    return this.#inTurn((thread) => insertTags(thread, tags));
  }

  addBundle({ file }: EventBundle): Promise<Appended> {
    return this.#inTurn(async (thread) => {
      try {
        const appended = await insertBundle(thread, file);
        await this.#compactAfter(thread, appended.added);
        return appended;
      } finally {
        this.#appTotals.changed(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
      }
    });
  }

  query(query: EventQuery, signal?: AbortSignal): Promise<EventAnswer> {
    return this.#query(query.accountId ?? ALL_ACCOUNTS, signal, async (thread) => {
      const columns = await thread.columns(querySql(query), signal);
      const answer = await runInTurns(answerOf(query, columns));
      const missingBeforeMs = fitsDailySums(query)
        ? null
        : await this.#missingBeforeMs(thread, query.startMs);
      return { ...answer, missingBeforeMs };
    });
  }

  breakdown(query: BreakdownQuery, signal?: AbortSignal): Promise<Breakdown> {
    return this.#query(query.accountId, signal, async (thread) => ({
      ...breakdownOf(query, await thread.columns(breakdownSql(query), signal)),
      missingBeforeMs: await this.#missingBeforeMs(thread, query.startMs),
    }));
  }

  log(query: LogQuery, signal?: AbortSignal): Promise<LogPage> {
    return this.#query(query.accountId, signal, async (thread) => {
      const terms = new LogTermsReader(thread, query, signal);
      return readLogPage(query, async (part) => {
        const columns = await thread.columns(logSql(part, await terms.of(part)), signal);
        return runInTurns(loggedGenerations(columns));
      });
    });
  }

  logCounts(query: LogCountsQuery, signal?: AbortSignal): Promise<LogCounts> {
    return this.#query(query.accountId, signal, async (thread) => {
      const terms = new LogTermsReader(thread, query, signal);
      const counts = await readLogCounts(query, async (part) => {
        const rows = await thread.query(logCountsSql(part, await terms.of(part)), signal);
        return rows.map(([start, count, failed, refused, refusedRequests]) => ({
          startMs: Number(start),
          count: Number(count),
          failed: Number(failed),
          refused: Number(refused),
          refusedRequests: Number(refusedRequests),
        }));
      });
      return { ...counts, missingBeforeMs: await this.#missingBeforeMs(thread, query.fromMs) };
    });
  }

  conversations(query: ConversationsQuery, signal?: AbortSignal): Promise<Conversations> {
    return this.#query(query.accountId, signal, async (thread) => {
      const terms = await new LogTermsReader(thread, query, signal).ofSeries();
      const ask = (statement: Statement) => thread.query(statement, signal);
      const conversations = await readConversations(query, {
        page: async (part, last) => (await ask(conversationKeysSql(part, last, terms))).map(conversationKey),
        figures: async (ids) =>
          (await ask(conversationFiguresSql(query, ids, terms))).map(conversationFigures),
        models: async (ids) => (await ask(conversationModelsSql(query, ids, terms))).map(modelUse),
      });
      return { conversations, missingBeforeMs: await this.#missingBeforeMs(thread, query.fromMs) };
    });
  }

  async appTotals(windows: readonly DayWindow[], signal?: AbortSignal): Promise<AppTotals> {
    if (windows.length === 0) return { apps: [], tokens: [], requests: [] };
    return this.#appTotals.of(windows, () => this.#queryAppTotals(windows, signal));
  }

  prune(beforeMs: number): Promise<number> {
    // Pruning does not create the file.
    if (this.#thread === undefined && !existsSync(this.#file)) return Promise.resolve(0);
    const before = BigInt(beforeMs - (beforeMs % DAY_MS));
    return this.#inTurn(async (thread) => {
      const [, removed] = await thread
        .transact(statementsOf(PRUNE, { before }))
        .finally(() => this.#prunedBefore.changed());
      await this.#compact(thread);
      return countOf(removed);
    });
  }

  async sizes(): Promise<EventSizes> {
    const rows = await this.#with((thread) =>
      thread.query(plain(`SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM ${ALL_DAILY})`)),
    );
    const [events, dailyRows] = rows[0] ?? [];
    const bytes = await Promise.all([bytesOf(this.#file), bytesOf(`${this.#file}.wal`)]);
    return { events: Number(events), dailyRows: Number(dailyRows), bytes: bytes[0] + bytes[1] };
  }

  copyTo(file: string): Promise<boolean> {
    // Copying does not create the file.
    if (this.#thread === undefined && !existsSync(this.#file)) return Promise.resolve(false);
    return this.#inTurn(async (thread) => {
      await copyDatabase(thread, file);
      return true;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#written;
    await this.#settingAside;
    await this.#thread?.close();
  }

  /** The moment before which events are missing from an answer that begins at another; null = none are. */
  async #missingBeforeMs(thread: DuckdbThread, startMs: number): Promise<number | null> {
    const prunedBeforeMs = await this.#prunedBefore.readMs(thread);
    return startMs < prunedBeforeMs ? prunedBeforeMs : null;
  }

  async #queryAppTotals(windows: readonly DayWindow[], signal?: AbortSignal): Promise<AppTotals> {
    return this.#query(ALL_ACCOUNTS, signal, async (thread) => {
      const [places, ...sums] = (await thread.columns(
        appTotalsSql(windows),
        signal,
      )) as readonly WholeNumbers[];
      return {
        apps: await this.#knownApps.at((places ?? []) as ArrayLike<number>, thread, signal),
        tokens: sums.slice(0, windows.length),
        requests: sums.slice(windows.length),
      };
    });
  }

  /** Limits concurrent queries: they are long, and the pool's threads are few and shared. */
  #query<Result>(
    accountId: string,
    signal: AbortSignal | undefined,
    work: (thread: DuckdbThread) => Promise<Result>,
  ): Promise<Result> {
    return this.#queries.within(accountId, signal, async () => {
      try {
        return await this.#with(work);
      } catch (error) {
        throw isOutOfMemory(error) ? new QueryTooLarge() : error;
      }
    });
  }

  /** Runs writes one after another. */
  #inTurn<Result>(work: (thread: DuckdbThread) => Promise<Result>): Promise<Result> {
    const done = this.#written.then(() => this.#with(work));
    this.#written = done.catch(() => {});
    return done;
  }

  async #with<Result>(work: (thread: DuckdbThread) => Promise<Result>): Promise<Result> {
    await this.#settingAside;
    const thread = this.#open();
    try {
      const result = await work(thread);
      this.#isAvailable = true;
      return result;
    } catch (error) {
      this.#isAvailable = !(error instanceof DuckdbFileDamaged || error instanceof DatabaseUnavailable);
      if (!(error instanceof DuckdbFileDamaged)) throw error;
      await this.#setAside(thread, error);
      throw new EventsUnavailable(error);
    }
  }

  #open(): DuckdbThread {
    if (this.#isClosed) throw new EventsUnavailable(new Error('the events are closed'));
    if (this.#thread === undefined || this.#thread.isEnded) {
      this.#knownSeries = new SeriesCache();
      this.#appTotals = new AppTotalsCache();
      this.#knownApps = new KnownApps();
      this.#prunedBefore = new PrunedBefore();
      this.#thread = new DuckdbThread(
        {
          file: this.#file,
          options: DUCKDB_OPTIONS,
          schema: SCHEMA,
          shape: SCHEMA_VERSION,
          upgrades: SCHEMA_UPGRADES,
        },
        this.#options.onFileCreated,
      );
    }
    return this.#thread;
  }

  /** Renames a damaged file, once for all work that failed on it. */
  async #setAside(thread: DuckdbThread, damage: DuckdbFileDamaged): Promise<void> {
    if (thread === this.#thread && !this.#hasSetAside) {
      this.#thread = undefined;
      this.#settingAside = this.#renew(thread, damage).finally(() => {
        this.#settingAside = undefined;
      });
    }
    await this.#settingAside;
  }

  async #renew(thread: DuckdbThread, damage: DuckdbFileDamaged): Promise<void> {
    await thread.close();
    try {
      const aside = await renameDamaged(this.#file);
      this.#hasSetAside = true;
      this.#options.warn?.(
        `the file of the events cannot be read and is now ${aside}; a new one is begun and filled with ` +
          'what is still kept of generations',
        { error: damage },
      );
    } catch (error) {
      this.#options.warn?.('the file of the events cannot be read, and cannot be renamed either', { error });
    }
  }

  async #append(thread: DuckdbThread, events: readonly GenerationEvent[]): Promise<Appended> {
    const distinct = firstOfEach(events);
    if (distinct.length === 0) return { added: 0, known: 0, tooOld: 0 };
    const moments = await stageEvents(thread, distinct, this.#knownSeries);
    const answers = await thread
      .transact(insertStatements(STAGED, moments))
      .finally(() => this.#appTotals.changed(Number(moments.first), Number(moments.last)));
    const { added, known, tooOld } = appendedOf(answers);
    await this.#compactAfter(thread, added);
    return { added, known: known + events.length - distinct.length, tooOld };
  }

  async #compactAfter(thread: DuckdbThread, added: number): Promise<void> {
    this.#addedSinceCompact += added;
    if (this.#addedSinceCompact >= (this.#options.compactAfterEvents ?? COMPACT_AFTER_EVENTS))
      await this.#compact(thread);
  }

  /** Sums are right without compaction: a failure is retried after more events. */
  async #compact(thread: DuckdbThread): Promise<void> {
    try {
      await thread.transact(statementsOf(COMPACT));
      this.#addedSinceCompact = 0;
    } catch (error) {
      this.#options.warn?.('the sums of the events cannot be compacted', { error });
    }
  }
}

/** The single number that a statement returned. */
function countOf(rows: DuckdbRows | undefined): number {
  return Number(rows?.[0]?.[0] ?? 0);
}

async function bytesOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

/** Renames a damaged file and its log. Resolves with the new name. */
async function renameDamaged(file: string): Promise<string> {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const to = `${file}.damaged-${time}`;
  for (const part of ['.wal', '']) {
    await rename(`${file}${part}`, `${to}${part}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  return to;
}
