import { GatewayError } from '../ir/errors.ts';

/** What was looked for. What is not there, and what is another account's, gets the same 404. */
export function requireFound<T>(found: T | undefined): T {
  if (found === undefined) throw notFound();
  return found;
}

/** The answer for what is not there. */
export function notFound(): GatewayError {
  return new GatewayError('not-found', 'Resource not found');
}
