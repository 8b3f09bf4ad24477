import type { WholeNumber } from './tables.ts';

/** A whole number that may be missing, as either engine gives it back. */
export function numberOrNull(value: WholeNumber | null): number | null {
  return value === null ? null : Number(value);
}
