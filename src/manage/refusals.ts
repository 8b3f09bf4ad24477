import { GatewayError } from '../ir/errors.ts';
import { LedgerUnavailable } from '../ports/ledger.ts';

const LONGEST_NAME = 255;

/** Refuses a name that people could not read back: empty, over-long, with control characters or blanks around it. */
export function checkName(field: string, name: string): void {
  const reason = nameProblem(name);
  if (reason !== undefined) throw new GatewayError('invalid-request', `${field}: ${reason}`);
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'must not be empty';
  if (name.length > LONGEST_NAME) return `must have at most ${LONGEST_NAME} characters`;
  if (/\p{C}/u.test(name)) return 'must not hold control characters';
  return name.trim() === name ? undefined : 'must not begin or end with a blank';
}

/** What was looked for. What is not there, and what is another account's, gets the same 404. */
export function requireFound<T>(found: T | undefined): T {
  if (found === undefined) throw notFound();
  return found;
}

/** The answer for what is not there. */
export function notFound(): GatewayError {
  return new GatewayError('not-found', 'Resource not found');
}

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
