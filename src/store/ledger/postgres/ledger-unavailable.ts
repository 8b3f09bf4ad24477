import { LedgerUnavailable } from '../../../ports/ledger.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';

/** Passes a result on; rejects with LedgerUnavailable when the database does not answer. */
export async function available<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw ledgerErrorOf(error);
  }
}

/** The error; LedgerUnavailable for DatabaseUnavailable. */
export function ledgerErrorOf(error: unknown): unknown {
  return error instanceof DatabaseUnavailable ? unavailable(error) : error;
}

export function unavailable(cause?: unknown): LedgerUnavailable {
  return new LedgerUnavailable(
    'the ledger cannot be reached or written at the moment; it goes on by itself once it can',
    cause,
  );
}
