import { setTimeout as delay } from 'node:timers/promises';
import type { IsolationLevel, Kysely, Transaction } from 'kysely';
import { codeOf } from './database-unavailable.ts';
import type { Tables } from './tables.ts';

/** Codes of PostgreSQL that mean somebody else was quicker: it could not be serialized, or two waited for each other. */
const SERIALIZATION_FAILURES = new Set(['40001', '40P01']);

const MAX_TRIES = 30;
const MAX_BACKOFF_STEP_MS = 5;

/**
 * Runs work as if nobody else worked at the same time, on either engine; under another isolation it locks what it needs
 * itself. It is run again when somebody else was quicker, so it must do nothing but read and write the database.
 */
export async function transact<T>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
  isolation: IsolationLevel = 'serializable',
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await database.transaction().setIsolationLevel(isolation).execute(work);
    } catch (error) {
      if (tries === MAX_TRIES || !SERIALIZATION_FAILURES.has(codeOf(error))) throw error;
      await delay(Math.random() * MAX_BACKOFF_STEP_MS * tries);
    }
  }
}
