import { hash } from 'node:crypto';

/** Characters of a digest that keep made ids apart. */
const DIGEST_LENGTH = 12;

/** Characters of an id that every upstream takes. */
const MAX_ID_LENGTH = 64;

/** An id that begins like the one it stands for. The same words in `unique` always give the same one. */
export function digestedId(callId: string, unique: string): string {
  const stem = callId.slice(0, MAX_ID_LENGTH - 1 - DIGEST_LENGTH).replace(/[^a-zA-Z0-9_-]/g, '_');
  return `${stem === '' ? 'call' : stem}_${hash('sha256', unique).slice(0, DIGEST_LENGTH)}`;
}
