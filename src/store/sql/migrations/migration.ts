import type { Kysely } from 'kysely';

export type SqlEngine = 'sqlite' | 'postgres';

/** One change of the schema. Never edited after its release. */
export interface Migration {
  /** Unique, and recorded in the database. The list decides the order, not the name. */
  readonly name: string;
  /** The only engine that it applies to; absent = both. */
  readonly engine?: SqlEngine;
  /**
   * The name of a migration that a program must know to work with the database after this one. Absent = this one only
   * adds, so that the releases before it can go on. A migration that removes something names one of the release that
   * stopped using it: gateways of that release go on, and older ones are refused.
   */
  readonly requires?: string;
  /**
   * Uses SQL that both engines accept, or looks which it has. Typed without `Tables`, which describe the newest schema.
   */
  up(database: Kysely<unknown>, engine: SqlEngine): Promise<void>;
}
