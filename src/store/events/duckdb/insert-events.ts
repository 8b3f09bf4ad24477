import type { Appended } from '../../../ports/events.ts';
import type { DuckdbRows } from './duckdb-thread.ts';
import { countLeftOutSql, type EventSource, insertSql, leaveOutSql } from './schema.ts';
import { plain, type Statement } from './statement.ts';

/** Range of times among which ids are searched. */
export interface Moments extends Readonly<Record<string, bigint>> {
  readonly first: bigint;
  readonly last: bigint;
}

/** Statements that take in events whose series have places. `appendedOf` reads their results. */
export function insertStatements(source: EventSource, moments: Moments): readonly Statement[] {
  return [
    { sql: leaveOutSql(source), parameters: moments },
    plain(countLeftOutSql(source)),
    plain(insertSql(source).join(';')),
  ];
}

/** The outcome in the results of `insertStatements`. */
export function appendedOf([, counted]: readonly DuckdbRows[]): Appended {
  const [all = 0, known = 0, tooOld = 0] = (counted?.[0] ?? []).map(Number);
  return { added: all - known - tooOld, known, tooOld };
}
