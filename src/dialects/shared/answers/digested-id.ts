import { hash } from 'node:crypto';

/** Characters of a digest that keep made ids apart. */
const DIGEST_LENGTH = 12;

/** Characters of an id that every upstream accepts. */
const MAX_ID_LENGTH = 64;

/** An id with the same beginning as the original. The same `unique` always gives the same id. */
export function digestedId(callId: string, unique: string): string {
  const stem = callId.slice(0, MAX_ID_LENGTH - 1 - DIGEST_LENGTH).replace(/[^a-zA-Z0-9_-]/g, '_');
  return `${stem === '' ? 'call' : stem}_${hash('sha256', unique).slice(0, DIGEST_LENGTH)}`;
}
