import { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import { ThreadedSqliteDialect, type ThreadedSqliteParts } from './threaded-sqlite-dialect.ts';

/** The embedded database. */
export class SqliteDatabase extends Kysely<Tables> {
  readonly #parts: ThreadedSqliteParts;

  constructor(parts: ThreadedSqliteParts) {
    super({ dialect: new ThreadedSqliteDialect(parts) });
    this.#parts = parts;
  }

  /**
   * Runs a statement for each of many rows of parameters, all or none. For what is written with every request: nothing is
   * built here, and the other thread is asked once.
   */
  async runForEach(statement: string, rows: readonly (readonly unknown[])[]): Promise<void> {
    const turn = await this.#parts.writer.take();
    try {
      await turn.runForEach(statement, rows);
    } finally {
      turn.end();
    }
  }
}
