import { GatewayError } from '../ir/errors.ts';
import { LedgerUnavailable } from '../ports/ledger.ts';

/** Waits for what the ledger was asked. That it cannot be written or read just now is a 503 for whoever asked. */
export async function whenAvailable<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    throw new GatewayError('overloaded', `Service temporarily unavailable: ${error.message}`, {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}
