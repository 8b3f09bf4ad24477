import { GatewayError } from '../ir/errors.ts';
import { LedgerUnavailable } from '../ports/money/ledger.ts';
import type { FileMember } from '../ports/tenancy/tenancy.ts';

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

/** Returns `found`, or throws 404: the same for a missing resource and for one of another account. */
export function requireFound<T>(found: T | undefined): T {
  if (found === undefined) throw notFound();
  return found;
}

export function notFound(): GatewayError {
  return new GatewayError('not-found', 'Resource not found');
}

/** Awaits an answer of the ledger; turns LedgerUnavailable into a 503. */
export async function ledgerOr503<T>(asked: Promise<T>): Promise<T> {
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

/** Throws 409 for a change of something that the configuration file declares. */
export function refuseDeclared(what: string, member: FileMember): void {
  if (member === null) return;
  throw new GatewayError(
    'conflict',
    `This ${what} is managed by the configuration file: change ${member} there`,
  );
}
