import { type AskOptions, Thread, ThreadEnded } from '../../../../kit/thread/thread.ts';
import { EventsUnavailable } from '../../event-errors.ts';
import type { PackedColumn } from '../pack-events.ts';
import { duckdbErrorOf } from './duckdb-errors.ts';
import type { Statement } from './statement.ts';

/**
 * Options of every DuckDB file: no extensions are loaded, and memory is returned to the system after use. What a
 * statement frees at once, up to 8 MB, is kept for the next one: to fetch it again takes a fifth of a short statement.
 */
export const DUCKDB_OPTIONS: Readonly<Record<string, string>> = {
  threads: '2',
  memory_limit: '256MB',
  allocator_flush_threshold: '1MB',
  allocator_bulk_deallocation_flush_threshold: '8MB',
  // Pages of the log, which have up to 1,001 rows: other columns than those of the filter are read of these alone.
  late_materialization_max_rows: '1001',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
};

export interface DuckdbSettings {
  readonly file: string;
  readonly options: Readonly<Record<string, string>>;
  /** Statements that run when it is opened. They create at least a table `shape`. */
  readonly schema: readonly string[];
  /** Version of the schema, written into a new file. A file with another number is upgraded or refused. */
  readonly shape: number;
  /** Statements that bring a file to the next version, by its version; absent = none. */
  readonly upgrades?: Readonly<Record<number, readonly string[]>>;
}

/** Rows of a statement, each a list of its columns. */
export type DuckdbRows = readonly (readonly unknown[])[];

/** Columns of a result: numeric ones packed, with NaN for null; others as lists. */
export type DuckdbColumns = readonly (Float64Array | readonly unknown[])[];

export type DuckdbQuestion =
  | DuckdbWrite
  | { readonly kind: 'query'; readonly statement: Statement }
  | { readonly kind: 'columns'; readonly statement: Statement };

export type DuckdbWrite =
  | { readonly kind: 'stage'; readonly table: string; readonly columns: readonly PackedColumn[] }
  | { readonly kind: 'transact'; readonly statements: readonly Statement[] }
  | { readonly kind: 'run'; readonly statement: Statement };

/**
 * Young generation of the worker's heap: its objects live for one question, and a larger heap would stay allocated.
 */
const YOUNG_GENERATION_MB = 4;

/** How long closing waits for current work, milliseconds. */
const CLOSING_MS = 10_000;

/**
 * A worker thread with its own database, which is opened with the first question. Never reused after its end, because
 * staged rows are lost with it.
 */
export class DuckdbThread {
  readonly #thread: Thread<DuckdbQuestion, unknown>;

  /** `onNew` is called when the file was created. */
  constructor(settings: DuckdbSettings, onNew?: () => void) {
    this.#thread = new Thread(new URL('./duckdb-thread-main.js', import.meta.url), {
      data: settings,
      limits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      onNotice: () => onNew?.(),
    });
  }

  get isEnded(): boolean {
    return this.#thread.isEnded;
  }

  /**
   * Adds rows to a table, in order with other writes. Number columns are transferred to the thread and unusable here
   * afterwards.
   */
  async stage(table: string, columns: readonly PackedColumn[]): Promise<void> {
    const moved = columns.filter((column) => column instanceof Float64Array).map(({ buffer }) => buffer);
    await this.#ask({ kind: 'stage', table, columns }, { moved });
  }

  /** Runs statements in a transaction, in order with other writes. Resolves with the rows of each. */
  async transact(statements: readonly Statement[]): Promise<readonly DuckdbRows[]> {
    return (await this.#ask({ kind: 'transact', statements })) as readonly DuckdbRows[];
  }

  /** Runs a single statement, in order with other writes. */
  async run(statement: Statement): Promise<DuckdbRows> {
    return (await this.#ask({ kind: 'run', statement })) as DuckdbRows;
  }

  /** Runs a query, concurrently with other work. */
  async query(statement: Statement, signal?: AbortSignal): Promise<DuckdbRows> {
    return (await this.#ask({ kind: 'query', statement }, { signal })) as DuckdbRows;
  }

  /** `query` for large results: packed number columns cost this thread next to nothing. */
  async columns(statement: Statement, signal?: AbortSignal): Promise<DuckdbColumns> {
    return (await this.#ask({ kind: 'columns', statement }, { signal })) as DuckdbColumns;
  }

  close(): Promise<void> {
    return this.#thread.close(CLOSING_MS);
  }

  async #ask(question: DuckdbQuestion, options?: AskOptions): Promise<unknown> {
    try {
      return await this.#thread.ask(question, options);
    } catch (error) {
      if (error === options?.signal?.reason) throw error;
      if (error instanceof ThreadEnded) throw new EventsUnavailable(error);
      const { message, isOpening } = error as ThreadError;
      throw duckdbErrorOf(message, isOpening === true);
    }
  }
}

interface ThreadError extends Error {
  /** It comes from opening the database. */
  readonly isOpening?: boolean;
}
