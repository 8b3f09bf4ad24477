import { createHash } from 'node:crypto';
import type { GenerationEvent } from '../../../ports/events.ts';
import { GenerationRefused } from '../../../ports/generations.ts';
import { EVENT_NUMBERS, EVENT_TEXTS, SERIES_NUMBERS, SERIES_TEXTS } from './columns.ts';

/** A column on its way to the thread, in the order of `STAGED_TABLES`: texts, or numbers with NaN for null. */
export type PackedColumn = readonly (string | null)[] | Float64Array<ArrayBuffer>;

/** A series, the event that it was first seen with, and its number among those that are handed over together. */
export interface NewSeries {
  readonly values: string;
  readonly event: GenerationEvent;
  readonly place: number;
}

const seriesTexts = Object.values(SERIES_TEXTS);
const seriesNumbers = Object.values(SERIES_NUMBERS);
const eventTexts = Object.values(EVENT_TEXTS);
const eventNumbers = Object.entries(EVENT_NUMBERS);

/** The values of the series that an event belongs to, as one text. */
export function seriesValuesOf(event: GenerationEvent): string {
  const values: unknown[] = [];
  for (const { of } of seriesTexts) values.push(of(event));
  for (const { of } of seriesNumbers) values.push(of(event));
  return JSON.stringify(values);
}

/** Makes columns of events, given the number of each one's series. Throws GenerationRefused for one that does not fit. */
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

/** Makes columns of series. */
export function packSeries(series: readonly NewSeries[]): readonly PackedColumn[] {
  return [
    series.map(({ values }) => keyOf(values)),
    ...seriesTexts.map(({ of }) => series.map(({ event }) => of(event))),
    Float64Array.from(series, ({ place }) => place),
    ...seriesNumbers.map(({ of }) => Float64Array.from(series, ({ event }) => Number(of(event)))),
  ];
}

/** What a series is known by in every file: 128 bits of a digest of its values. */
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
    const number = value === null ? Number.NaN : Number(value);
    if (value !== null && !Number.isSafeInteger(number)) {
      throw new GenerationRefused(
        `the event ${event.id} has a number in ${name} that is not a whole one within 2^53`,
      );
    }
    numbers[index] = number;
  }
  return numbers;
}
