import type { DayWindow } from '../../../ports/events.ts';
import { APP_SUMS, DAY_MS } from './schema.ts';
import type { Statement } from './statement.ts';

/** Days of 1970 on: the first, and the one after the last. */
interface DayRange {
  readonly first: number;
  readonly end: number;
}

/** Days whose sums are read from one table. */
interface Piece extends DayRange {
  readonly table: string;
}

const SUMMED = ['tokens', 'requests'] as const;

/** A statement for the sums of apps. Its columns: place of the app, then tokens of each window, then requests of each. */
export function appTotalsSql(windows: readonly DayWindow[]): Statement {
  const columns = SUMMED.flatMap((name) => windows.map((_, window) => ({ name, window })));
  // Each window has columns of its own, in which the rows of others are 0: so every row is added up once.
  const pieces = windows.flatMap(({ startMs, endMs }, ofPiece) => {
    const range = { first: Math.ceil(startMs / DAY_MS), end: Math.ceil(endMs / DAY_MS) };
    const padded = columns.map(
      ({ name, window }) => `${window === ofPiece ? name : '0::BIGINT'} AS ${name}${window}`,
    );
    return [{ table: APP_SUMS[0].added, ...range }, ...piecesOf(range, APP_SUMS.length - 1)].map(
      ({ table, first, end }) => `SELECT app_place, ${padded.join(', ')} FROM ${table}
        WHERE first_day >= ${first} AND first_day < ${end}`,
    );
  });
  const sums = columns.map(({ name, window }) => `sum(${name}${window})::BIGINT`);
  const sql = `SELECT app_place, ${sums.join(', ')} FROM (${pieces.join(' UNION ALL ')})
    GROUP BY app_place HAVING sum(requests0) > 0`;
  return { sql, parameters: {} };
}

/** Reads whole spans of days where a range has some, and what is before and after them from the spans below. */
function piecesOf({ first, end }: DayRange, level: number): Piece[] {
  const sums = APP_SUMS[level];
  if (sums === undefined || first >= end) return [];
  const { table, days } = sums;
  const spansFrom = Math.ceil(first / days) * days;
  const spansTo = Math.floor(end / days) * days;
  if (spansFrom >= spansTo) return piecesOf({ first, end }, level - 1);
  return [
    ...piecesOf({ first, end: spansFrom }, level - 1),
    { table, first: spansFrom, end: spansTo },
    ...piecesOf({ first: spansTo, end }, level - 1),
  ];
}
