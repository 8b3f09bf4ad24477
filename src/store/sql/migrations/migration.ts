import type { Kysely } from 'kysely';

/** Engines that tables are in. */
export type Engine = 'sqlite' | 'postgres';

/** One step from an older shape of the database to a newer one. Never changed once released. */
export interface Migration {
  /** Unique; the order is that of the list, not of the name. */
  readonly name: string;
  /** The only engine that needs it. */
  readonly engine?: Engine;
  /** Uses only what SQLite and PostgreSQL both know, unless one of them alone needs it. A migration knows no table types: they are those of today. */
  up(database: Kysely<unknown>): Promise<void>;
}
