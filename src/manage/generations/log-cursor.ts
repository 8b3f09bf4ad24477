import type { GenerationsQuery } from '../../contract/generations/generation-log.ts';
import {
  LOG_SORT_VALUES,
  type LoggedGeneration,
  type LogPosition,
  type LogSort,
} from '../../ports/events/events.ts';

/** What the log is in order of, by the name of the member that a query gives. */
export const LOG_SORTS: Readonly<Record<NonNullable<GenerationsQuery['sort']>, LogSort>> = {
  created_at: 'arrival',
  duration_ms: 'duration',
  latency: 'first-content',
  cost: 'cost',
};

/** Where a row stands in an order of the log. */
export function positionIn(sort: LogSort, row: LoggedGeneration): LogPosition {
  return { value: LOG_SORT_VALUES[sort](row), id: row.id };
}

/** A position as a text that callers hand back. */
export function cursorOf({ value, id }: LogPosition): string {
  return `${value}.${id}`;
}

/** The position of a cursor, whose form the schema has checked; null = there is none. */
export function positionOf(cursor: string | undefined): LogPosition | null {
  if (cursor === undefined) return null;
  const end = cursor.indexOf('.');
  return { value: BigInt(cursor.slice(0, end)), id: cursor.slice(end + 1) };
}
