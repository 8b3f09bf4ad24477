import { createRequire } from 'node:module';
import { type Transferable, Worker } from 'node:worker_threads';
import { isInTime } from '../../../kit/loop/is-in-time.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import { duckdbErrorOf } from './duckdb-errors.ts';
import { DUCKDB_WORKER } from './duckdb-worker.ts';
import type { PackedColumn } from './pack-events.ts';
import type { Statement } from './statement.ts';

/** How every file of DuckDB is opened: nothing is loaded from outside, and memory goes back once work is done. */
export const DUCKDB_OPTIONS: Readonly<Record<string, string>> = {
  threads: '2',
  memory_limit: '256MB',
  allocator_flush_threshold: '1MB',
  allocator_bulk_deallocation_flush_threshold: '1MB',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
};

/** How a database is opened. */
export interface DuckdbSettings {
  readonly file: string;
  readonly options: Readonly<Record<string, string>>;
  /** Run once, when it is opened. Makes at least a table `shape`. */
  readonly schema: readonly string[];
  /** Written into a new file. One with another number is not opened. */
  readonly shape: number;
}

/** Rows of a statement, each a list of its columns. */
export type DuckdbRows = readonly (readonly unknown[])[];

/** Columns of a statement: those of numbers alone packed, with NaN for null; anything else as it is. */
export type DuckdbColumns = readonly (Float64Array | readonly unknown[])[];

type Question =
  | { readonly kind: 'stage'; readonly table: string; readonly columns: readonly PackedColumn[] }
  | { readonly kind: 'transact'; readonly statements: readonly Statement[] }
  | { readonly kind: 'run' | 'query' | 'columns'; readonly statement: Statement };

type Reply =
  | { readonly kind: 'new' }
  | { readonly kind?: undefined; readonly id: number; readonly ok: true; readonly answer: unknown }
  | {
      readonly kind?: undefined;
      readonly id: number;
      readonly ok: false;
      readonly message: string;
      readonly isOpening: boolean;
    };

const ENDED = 'the thread of the events has ended';

/** What the thread makes is gone after each question: more room for it would only stay taken, megabytes. */
const YOUNG_GENERATION_MB = 4;

/** How long closing waits for work that is under way, milliseconds. */
const CLOSING_MS = 10_000;

/**
 * A thread with a database of its own: it is opened with the first question. Once it has ended it is never used again:
 * what was staged is gone with it.
 */
export class DuckdbThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  readonly #asked = new Map<number, { resolve(answer: unknown): void; reject(reason: unknown): void }>();
  #lastId = 0;
  #isEnded = false;

  /** `onNew` is told that the file was made anew. */
  constructor(settings: DuckdbSettings, onNew?: () => void) {
    const library = createRequire(import.meta.url).resolve('@duckdb/node-api');
    // Flags that say how this process reads its own program say nothing about the worker's.
    this.#worker = new Worker(DUCKDB_WORKER, {
      eval: true,
      execArgv: [],
      workerData: { library, settings },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker.on('message', (reply: Reply) => {
      if (reply.kind === 'new') onNew?.();
      else if (reply.ok) this.#asked.get(reply.id)?.resolve(reply.answer);
      else this.#asked.get(reply.id)?.reject(duckdbErrorOf(reply.message, reply.isOpening));
    });
    this.#worker.on('error', (error) => this.#end(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#end(new Error(ENDED));
        resolve();
      });
    });
    // The process may end while the worker waits for work.
    this.#worker.unref();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Adds rows to a table, after what was asked before; they are there for what is asked next. The numbers are moved to the
   * thread: they are gone here.
   */
  async stage(table: string, columns: readonly PackedColumn[]): Promise<void> {
    const moved = columns.filter((column) => column instanceof Float64Array).map(({ buffer }) => buffer);
    await this.#ask({ kind: 'stage', table, columns }, { moved });
  }

  /** Runs statements after what was asked before, all or none. Resolves with the rows of each. */
  async transact(statements: readonly Statement[]): Promise<readonly DuckdbRows[]> {
    return (await this.#ask({ kind: 'transact', statements })) as readonly DuckdbRows[];
  }

  /** Runs a statement after what was asked before, by itself. */
  async run(statement: Statement): Promise<DuckdbRows> {
    return (await this.#ask({ kind: 'run', statement })) as DuckdbRows;
  }

  /** Runs a statement that only reads. */
  async query(statement: Statement, signal?: AbortSignal): Promise<DuckdbRows> {
    return (await this.#ask({ kind: 'query', statement }, { signal })) as DuckdbRows;
  }

  /** Runs a statement that only reads and may answer many rows: numbers cost this side next to nothing. */
  async columns(statement: Statement, signal?: AbortSignal): Promise<DuckdbColumns> {
    return (await this.#ask({ kind: 'columns', statement }, { signal })) as DuckdbColumns;
  }

  /** Lets it end after what is under way. */
  async close(): Promise<void> {
    if (!this.#isEnded) this.#worker.postMessage(null);
    await isInTime(this.#ended, CLOSING_MS);
  }

  async #ask(
    question: Question,
    {
      signal,
      moved = [],
    }: { readonly signal?: AbortSignal | undefined; readonly moved?: Transferable[] } = {},
  ): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#isEnded) throw new DatabaseUnavailable(new Error(ENDED));
    this.#lastId += 1;
    const id = this.#lastId;
    const interrupt = () => {
      this.#worker.postMessage({ kind: 'interrupt', id });
      this.#asked.get(id)?.reject(signal?.reason);
    };
    this.#worker.ref();
    signal?.addEventListener('abort', interrupt);
    try {
      return await new Promise((resolve, reject) => {
        this.#asked.set(id, { resolve, reject });
        this.#worker.postMessage({ ...question, id }, moved);
      });
    } finally {
      signal?.removeEventListener('abort', interrupt);
      this.#asked.delete(id);
      if (this.#asked.size === 0) this.#worker.unref();
    }
  }

  #end(reason: Error): void {
    this.#isEnded = true;
    for (const { reject } of this.#asked.values()) reject(new DatabaseUnavailable(reason));
  }
}
