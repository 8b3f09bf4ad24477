import Database from 'libsql';
import { connectSqlite, type SqliteSettings, sqliteProblemOf } from './sqlite-connection.ts';

/** Reads a database on this thread. Connects on first use, when the writer has created the file. */
export class SqliteReader {
  readonly #settings: SqliteSettings;
  #connection: Database.Database | undefined;

  constructor(settings: SqliteSettings) {
    this.#settings = settings;
  }

  /** The rows of a statement. Throws DatabaseUnavailable when a retry may help. */
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
