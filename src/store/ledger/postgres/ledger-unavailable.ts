import { LedgerUnavailable } from '../../../ports/money/ledger.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';

/** Passes a result on; rejects with LedgerUnavailable when the database does not answer. */
export async function orLedgerUnavailable<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw ledgerErrorOf(error);
  }
}

export function ledgerErrorOf(error: unknown): unknown {
  return error instanceof DatabaseUnavailable ? withoutDatabase(error) : error;
}

export function withoutDatabase(cause?: unknown): LedgerUnavailable {
  return new LedgerUnavailable(
    'the database does not answer; the ledger goes on by itself once it does',
    cause,
  );
}

export function withoutDisk(): LedgerUnavailable {
  return new LedgerUnavailable(
    'the ledger cannot be written at the moment; it goes on by itself once its disk works',
  );
}
