import type { Kysely } from 'kysely';

/** One step from an older shape of the database to a newer one. Never changed once released. */
export interface Migration {
  /** Unique; the order is that of the list, not of the name. */
  readonly name: string;
  /** Uses only what SQLite and PostgreSQL both know. A migration knows no table types: they are those of today. */
  up(database: Kysely<unknown>): Promise<void>;
}
