import { nextTurn } from '../../../kit/loop/turns.ts';
import type { GenerationEvent } from '../../../ports/events/events.ts';
import { EventsUnavailable } from '../event-errors.ts';
import type { DuckdbThread } from './driver/duckdb-thread.ts';
import { plain, statementsOf } from './driver/statement.ts';
import {
  MAKE_STAGED_EVENTS,
  MAKE_STAGED_SERIES,
  type Moments,
  PLACES,
  placeSeriesSql,
  STAGED,
} from './insert-events.ts';
import { type NewSeries, packEvents, packSeries, seriesValuesOf } from './pack-events.ts';

/** Events per message: packing them must not block the event loop. */
const SLICE_EVENTS = 500;

/** Stages events, after their new series. Resolves with the range of their times. */
export async function stageEvents(
  thread: DuckdbThread,
  events: readonly GenerationEvent[],
  known: SeriesCache,
): Promise<Moments> {
  const series = await placeSeries(thread, events, known);
  const staged: Promise<unknown>[] = [thread.run(plain(MAKE_STAGED_EVENTS))];
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  try {
    for (let begin = 0; begin < events.length; begin += SLICE_EVENTS) {
      if (begin > 0) await nextTurn();
      const slice = events.slice(begin, begin + SLICE_EVENTS);
      staged.push(thread.stage(STAGED.events, packEvents(slice, series.slice(begin, begin + SLICE_EVENTS))));
      for (const { createdAtMs } of slice) {
        first = Math.min(first, createdAtMs);
        last = Math.max(last, createdAtMs);
      }
    }
  } finally {
    await Promise.allSettled(staged);
  }
  await Promise.all(staged);
  return { first: BigInt(first), last: BigInt(last) };
}

/** The place of each event's series. New series get one, even if the events fail later. */
async function placeSeries(
  thread: DuckdbThread,
  events: readonly GenerationEvent[],
  known: SeriesCache,
): Promise<Float64Array<ArrayBuffer>> {
  const places = new Float64Array(events.length);
  const unknown = new Map<string, NewSeries>();
  const waiting: { readonly index: number; readonly values: string }[] = [];
  for (let index = 0; index < events.length; index++) {
    if (index > 0 && index % SLICE_EVENTS === 0) await nextTurn();
    const event = events[index] as GenerationEvent;
    const values = seriesValuesOf(event);
    const place = known.placeOf(values);
    if (place !== undefined) places[index] = place;
    else {
      waiting.push({ index, values });
      if (!unknown.has(values)) unknown.set(values, { values, event, place: unknown.size });
    }
  }
  if (waiting.length === 0) return places;
  const found = await placesOf(thread, [...unknown.values()]);
  for (const [values, place] of found) known.note(values, place);
  for (const { index, values } of waiting) {
    const place = found.get(values);
    if (place === undefined) throw new EventsUnavailable(new Error('a series has no place'));
    places[index] = place;
  }
  return places;
}

async function placesOf(
  thread: DuckdbThread,
  series: readonly NewSeries[],
): Promise<ReadonlyMap<string, number>> {
  await thread.run(plain(MAKE_STAGED_SERIES));
  for (let begin = 0; begin < series.length; begin += SLICE_EVENTS) {
    await thread.stage(STAGED.series, packSeries(series.slice(begin, begin + SLICE_EVENTS)));
  }
  const answers = await thread.transact([...statementsOf(placeSeriesSql(STAGED)), plain(PLACES)]);
  const places = new Map<string, number>();
  for (const [place, stagedPlace] of answers.at(-1) ?? []) {
    const values = series[Number(stagedPlace)]?.values;
    if (values !== undefined) places.set(values, Number(place));
  }
  return places;
}

/** Maximum of cached series: more than an installation uses in a day, and a few megabytes. */
const MAX_SERIES = 20_000;

export class SeriesCache {
  readonly #places = new Map<string, number>();

  placeOf(values: string): number | undefined {
    return this.#places.get(values);
  }

  note(values: string, place: number): void {
    if (this.#places.size >= MAX_SERIES) this.#places.clear();
    this.#places.set(values, place);
  }
}
