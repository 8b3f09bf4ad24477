import { ClickhouseProblem } from './clickhouse-client.ts';
import type { TextRow } from './tab-separated.ts';

/** Refuses a row with another number of columns than its statement selects. */
export function requireColumns(row: TextRow, columns: number): void {
  if (row.length !== columns) throw otherForm();
}

/** A whole number as a field has it. Rejects everything else, NULL too. */
export function wholeOf(text: string | null | undefined): number {
  return Number(digitsOf(text));
}

/** Parses a whole number of any size. */
export function bigOf(text: string | null | undefined): bigint {
  return BigInt(digitsOf(text));
}

/** Numbers that are none: a mean of nothing. */
const NO_NUMBER = /^-?(nan|inf)$/;

/** A number as a field has it; null for one that is none. */
export function numberOf(text: string): number | null {
  if (NO_NUMBER.test(text)) return null;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw otherForm();
  return number;
}

function digitsOf(text: string | null | undefined): string {
  if (typeof text !== 'string' || !/^-?\d+$/.test(text)) throw otherForm();
  return text;
}

function otherForm(): ClickhouseProblem {
  return new ClickhouseProblem(0, 'ClickHouse answered with rows of another form than was asked for');
}
