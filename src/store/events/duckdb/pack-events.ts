import { createHash } from 'node:crypto';
import type { GenerationEvent } from '../../../ports/events/events.ts';
import { EVENT_NUMBERS, EVENT_TEXTS, SERIES_NUMBERS, SERIES_TEXTS, wholeNumberOf } from '../columns.ts';

/** A column for the worker thread: texts, or numbers with NaN for null. The order is that of `STAGED_TABLES`. */
export type PackedColumn = readonly (string | null)[] | Float64Array<ArrayBuffer>;

/** A new series, the event that it was first seen with, and its number in the batch. */
export interface NewSeries {
  readonly values: string;
  readonly event: GenerationEvent;
  readonly place: number;
}

const seriesTexts = Object.values(SERIES_TEXTS);
const seriesNumbers = Object.values(SERIES_NUMBERS);
const eventTexts = Object.values(EVENT_TEXTS);
const eventNumbers = Object.entries(EVENT_NUMBERS);

export function seriesValuesOf(event: GenerationEvent): string {
  const values: unknown[] = [];
  for (const { of } of seriesTexts) values.push(of(event));
  for (const { of } of seriesNumbers) values.push(of(event));
  return JSON.stringify(values);
}

/** Columns of events with the numbers of their series. Throws GenerationRefused for a value that does not fit. */
export function packEvents(
  events: readonly GenerationEvent[],
  series: Float64Array<ArrayBuffer>,
): readonly PackedColumn[] {
  return [
    ...eventTexts.map(({ of }) => events.map(of)),
    series,
    ...eventNumbers.map(([name, { of }]) => numbersOf(events, of, name)),
  ];
}

export function packSeries(series: readonly NewSeries[]): readonly PackedColumn[] {
  return [
    series.map(({ values }) => keyOf(values)),
    ...seriesTexts.map(({ of }) => series.map(({ event }) => of(event))),
    Float64Array.from(series, ({ place }) => place),
    ...seriesNumbers.map(({ of }) => Float64Array.from(series, ({ event }) => Number(of(event)))),
  ];
}

/** Key of a series, the same in every file: 128 bits of a digest of its values. */
function keyOf(values: string): string {
  return createHash('sha256').update(values).digest('base64url').slice(0, 22);
}

function numbersOf(
  events: readonly GenerationEvent[],
  of: (event: GenerationEvent) => number | bigint | boolean | null,
  name: string,
): Float64Array<ArrayBuffer> {
  const numbers = new Float64Array(events.length);
  for (let index = 0; index < events.length; index++) {
    const event = events[index] as GenerationEvent;
    const value = of(event);
    numbers[index] = value === null ? Number.NaN : wholeNumberOf(value, event, name);
  }
  return numbers;
}
