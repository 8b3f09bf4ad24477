import { setTimeout as delay } from 'node:timers/promises';
import type { IsolationLevel, Kysely, Transaction } from 'kysely';
import { codeOf } from './database-unavailable.ts';
import type { Tables } from './tables.ts';

/** PostgreSQL codes of a serialization failure and of a deadlock. */
const SERIALIZATION_FAILURES = new Set(['40001', '40P01']);

const MAX_TRIES = 30;
const MAX_BACKOFF_STEP_MS = 5;

/**
 * Runs work in a transaction on either engine, serializable by default; under a lower isolation the work takes its own
 * locks. Retries after conflicts, so the work must have no effects outside of the database.
 */
export function transact<T>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
  isolation: IsolationLevel = 'serializable',
): Promise<T> {
  return retryingConflicts(() => database.transaction().setIsolationLevel(isolation).execute(work));
}

/** Runs a statement or a transaction, and runs it again after a conflict with another one. */
export async function retryingConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === MAX_TRIES || !SERIALIZATION_FAILURES.has(codeOf(error))) throw error;
      await delay(Math.random() * MAX_BACKOFF_STEP_MS * tries);
    }
  }
}
