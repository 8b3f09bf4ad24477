import { LedgerUnavailable } from '../../../ports/ledger.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';

/** Passes a result on; rejects with LedgerUnavailable when the database does not answer. */
export async function orLedgerUnavailable<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw ledgerErrorOf(error);
  }
}

/** The error; LedgerUnavailable for DatabaseUnavailable. */
export function ledgerErrorOf(error: unknown): unknown {
  return error instanceof DatabaseUnavailable ? ledgerUnavailable(error) : error;
}

export function ledgerUnavailable(cause?: unknown): LedgerUnavailable {
  return new LedgerUnavailable(
    'the ledger cannot be reached or written at the moment; it goes on by itself once it can',
    cause,
  );
}
