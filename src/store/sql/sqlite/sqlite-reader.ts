import Database from 'libsql';
import { connectSqlite, type SqliteSettings, sqliteProblemOf } from './sqlite-connection.ts';

/** Looks into a database on this thread. Opens it on first use: somebody else must have made it by then. */
export class SqliteReader {
  readonly #settings: SqliteSettings;
  #connection: Database.Database | undefined;

  constructor(settings: SqliteSettings) {
    this.#settings = settings;
  }

  /** The rows of a statement. Throws a DatabaseUnavailable where another try may help. */
  all(sql: string, parameters: readonly unknown[]): unknown[] {
    try {
      this.#connection ??= connectSqlite(Database, this.#settings);
      return this.#connection.prepare(sql).all(parameters);
    } catch (error) {
      throw sqliteProblemOf(error);
    }
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}
