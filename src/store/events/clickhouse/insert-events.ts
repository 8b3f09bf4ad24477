import { forEachSliced, type Sliced } from '../../../kit/loop/turns.ts';
import type { GenerationEvent } from '../../../ports/events/events.ts';
import { EVENT_NUMBERS, EVENT_TEXTS, SERIES_NUMBERS, SERIES_TEXTS, wholeNumberOf } from '../columns.ts';
import { fieldOf, literalOf } from './driver/tab-separated.ts';
import { EVENTS } from './schema.ts';

const TEXTS = [SERIES_TEXTS, EVENT_TEXTS] as const;
const NUMBERS = [SERIES_NUMBERS, EVENT_NUMBERS] as const;
const [seriesTexts, eventTexts] = TEXTS.map((columns) => Object.values(columns));
const [seriesNumbers, eventNumbers] = NUMBERS.map((columns) => Object.entries(columns));

/** An event as a line, in the order of `EVENT_COLUMNS`. Throws GenerationRefused for a number that does not fit. */
export function eventLine(event: GenerationEvent): string {
  const fields: string[] = [];
  const addTexts = (columns = seriesTexts) => {
    for (const { of } of columns ?? []) fields.push(fieldOf(of(event)));
  };
  const addNumbers = (columns = seriesNumbers) => {
    for (const [name, { of }] of columns ?? []) {
      const value = of(event);
      fields.push(fieldOf(value === null ? null : wholeNumberOf(value, event, name)));
    }
  };
  addTexts(seriesTexts);
  addNumbers(seriesNumbers);
  addTexts(eventTexts);
  addNumbers(eventNumbers);
  return fields.join('\t');
}

/** Lines by month, so that each insert concerns one partition and is done as a whole. */
export function* linesByMonth<Inserted extends { readonly createdAtMs: number }>(
  inserted: readonly Inserted[],
  lineOf: (one: Inserted) => string,
): Sliced<ReadonlyMap<string, string[]>> {
  const months = new Map<string, string[]>();
  yield* forEachSliced(inserted, (one) => {
    const month = new Date(one.createdAtMs).toISOString().slice(0, 7);
    const lines = months.get(month);
    if (lines === undefined) months.set(month, [lineOf(one)]);
    else lines.push(lineOf(one));
  });
  return months;
}

/** Selects the ids among those of some events that are stored. By account and time, which the table is sorted by. */
export function knownIdsSql(events: readonly GenerationEvent[]): string {
  const moments = events.map(({ createdAtMs }) => createdAtMs);
  const accounts = new Set(events.map(({ accountId }) => literalOf(accountId)));
  return `${knownIdsAtAnyTimeSql(events)} AND account_id IN (${[...accounts].join(', ')})
    AND created_ms >= ${least(moments)} AND created_ms <= ${greatest(moments)}`;
}

/** Selects the ids among those of some events that are stored, even under another time or account. */
export function knownIdsAtAnyTimeSql(events: readonly GenerationEvent[]): string {
  return `SELECT id FROM ${EVENTS} WHERE id IN (${events.map(({ id }) => literalOf(id)).join(', ')})`;
}

const least = (numbers: readonly number[]) => numbers.reduce((one, other) => Math.min(one, other));
const greatest = (numbers: readonly number[]) => numbers.reduce((one, other) => Math.max(one, other));
