import { GatewayError } from '../ir/errors.ts';
import { LedgerUnavailable } from '../ports/ledger.ts';

const MAX_NAME_CHARACTERS = 255;

/** Throws a 400 for a name that is empty, too long, padded with blanks or has control characters. */
export function checkName(field: string, name: string): void {
  const reason = nameProblem(name);
  if (reason !== undefined) throw new GatewayError('invalid-request', `${field}: ${reason}`);
}

function nameProblem(name: string): string | undefined {
  if (name === '') return 'must not be empty';
  if (name.length > MAX_NAME_CHARACTERS) return `must have at most ${MAX_NAME_CHARACTERS} characters`;
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

/** Awaits an answer of the ledger; turns LedgerUnavailable into a 503. */
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
