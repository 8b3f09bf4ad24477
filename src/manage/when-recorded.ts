import { GatewayError } from '../ir/errors.ts';
import { LedgerUnavailable } from '../ports/ledger.ts';

/** Waits until the ledger has recorded something. That it cannot just now is a 503 for whoever asked. */
export async function whenRecorded(recording: Promise<void>): Promise<void> {
  try {
    await recording;
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    throw new GatewayError('overloaded', `Service temporarily unavailable: ${error.message}`, {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}
