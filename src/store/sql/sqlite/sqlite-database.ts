import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Tables } from '../tables.ts';
import type { SqliteReader } from './sqlite-reader.ts';
import type { SqliteTurn, SqliteWriter } from './sqlite-writer.ts';

export class SqliteDatabase extends Kysely<Tables> {
  readonly #dependencies: ThreadedSqliteDependencies;

  constructor(dependencies: ThreadedSqliteDependencies) {
    super({ dialect: new ThreadedSqliteDialect(dependencies) });
    this.#dependencies = dependencies;
  }

  /**
   * Runs a statement for many rows of parameters in one transaction. For hot paths: no query is built, and the writer
   * thread gets one message.
   */
  async runForEach(statement: string, rows: readonly (readonly unknown[])[]): Promise<void> {
    const turn = await this.#dependencies.writer.takeTurn();
    try {
      await turn.runForEach(statement, rows);
    } finally {
      turn.end();
    }
  }
}

export interface ThreadedSqliteDependencies {
  /** For selects outside of transactions, which wait for no lock; undefined = the writer runs them too. */
  readonly reader: SqliteReader | undefined;
  /** For everything else. */
  readonly writer: SqliteWriter;
}

/** SQLite for Kysely: writes in one thread, reads in it or in another. Reads see all writes that have resolved. */
export class ThreadedSqliteDialect implements Dialect {
  readonly #dependencies: ThreadedSqliteDependencies;

  constructor(dependencies: ThreadedSqliteDependencies) {
    this.#dependencies = dependencies;
  }

  createDriver(): Driver {
    const { reader, writer } = this.#dependencies;
    return {
      init: async () => {},
      acquireConnection: async () => new ThreadedSqliteConnection(this.#dependencies),
      beginTransaction: (connection) => (connection as ThreadedSqliteConnection).begin(),
      commitTransaction: (connection) => (connection as ThreadedSqliteConnection).commit(),
      rollbackTransaction: (connection) => (connection as ThreadedSqliteConnection).rollback(),
      releaseConnection: async () => {},
      async destroy() {
        // The writer closes last: the last connection to close checkpoints the log, which may take a while.
        await writer.close(reader?.close());
      },
    };
  }

  createQueryCompiler() {
    return new SqliteQueryCompiler();
  }

  createAdapter() {
    return new SqliteAdapter();
  }

  createIntrospector(database: Kysely<unknown>) {
    return new SqliteIntrospector(database);
  }
}

class ThreadedSqliteConnection implements DatabaseConnection {
  readonly #dependencies: ThreadedSqliteDependencies;
  #transaction: SqliteTurn | undefined;

  constructor(dependencies: ThreadedSqliteDependencies) {
    this.#dependencies = dependencies;
  }

  async executeQuery<R>({ query, sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#transaction !== undefined) return change(this.#transaction, sql, parameters);
    const { reader, writer } = this.#dependencies;
    if (reader !== undefined && SelectQueryNode.is(query))
      return { rows: (await reader.all(sql, parameters)) as R[] };
    const turn = await writer.takeTurn();
    try {
      return await change(turn, sql, parameters);
    } finally {
      turn.end();
    }
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('rows are not streamed');
  }

  /** Takes the write lock at once: a read transaction may fail to upgrade later. */
  async begin(): Promise<void> {
    const turn = await this.#dependencies.writer.takeTurn();
    try {
      await turn.run('begin immediate');
      this.#transaction = turn;
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  async commit(): Promise<void> {
    await this.#transaction?.run('commit');
    this.#leave();
  }

  async rollback(): Promise<void> {
    await this.#transaction?.rollback();
    this.#leave();
  }

  #leave(): void {
    this.#transaction?.end();
    this.#transaction = undefined;
  }
}

async function change<R>(
  turn: SqliteTurn,
  sql: string,
  parameters: readonly unknown[],
): Promise<QueryResult<R>> {
  const { rows, changes } = await turn.run(sql, parameters);
  return { rows: rows as R[], numAffectedRows: BigInt(changes) };
}
