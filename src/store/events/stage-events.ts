import { nextTurn } from '../../kit/turns.ts';
import type { GenerationEvent } from '../../ports/events.ts';
import { DatabaseUnavailable } from '../sql/database-unavailable.ts';
import type { DuckdbThread } from './duckdb-thread.ts';
import type { KnownSeries } from './known-series.ts';
import { type NewSeries, packEvents, packSeries, seriesValuesOf } from './pack-events.ts';
import { MAKE_STAGED_EVENTS, MAKE_STAGED_SERIES, PLACES, placeSeriesSql, STAGED } from './schema.ts';
import { plain, statementsOf } from './statement.ts';
import type { Moments } from './take-in.ts';

/** Events that are handed over in one message: making it must not hold up the loop. */
const SLICE = 500;

/** Hands events over, after series that are new. Resolves with the moments of the earliest and the latest. */
export async function stageEvents(
  thread: DuckdbThread,
  events: readonly GenerationEvent[],
  known: KnownSeries,
): Promise<Moments> {
  const series = await placeSeries(thread, events, known);
  const staged: Promise<unknown>[] = [thread.run(plain(MAKE_STAGED_EVENTS))];
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  try {
    for (let begin = 0; begin < events.length; begin += SLICE) {
      if (begin > 0) await nextTurn();
      const slice = events.slice(begin, begin + SLICE);
      staged.push(thread.stage(STAGED.events, packEvents(slice, series.slice(begin, begin + SLICE))));
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

/** The place of each event's series in the file. Those that are new get one, whatever becomes of the events. */
async function placeSeries(
  thread: DuckdbThread,
  events: readonly GenerationEvent[],
  known: KnownSeries,
): Promise<Float64Array<ArrayBuffer>> {
  const places = new Map<string, number>();
  const unknown: NewSeries[] = [];
  const isUnknown = new Set<string>();
  const values: string[] = [];
  for (const [index, event] of events.entries()) {
    if (index > 0 && index % SLICE === 0) await nextTurn();
    const ofEvent = seriesValuesOf(event);
    values.push(ofEvent);
    if (places.has(ofEvent)) continue;
    const place = known.placeOf(ofEvent);
    if (place !== undefined) places.set(ofEvent, place);
    else if (!isUnknown.has(ofEvent)) {
      isUnknown.add(ofEvent);
      unknown.push({ values: ofEvent, event, place: unknown.length });
    }
  }
  for (const [place, stagedPlace] of await placesOf(thread, unknown)) {
    const ofSeries = unknown[stagedPlace]?.values;
    if (ofSeries === undefined) continue;
    places.set(ofSeries, place);
    known.note(ofSeries, place);
  }
  return Float64Array.from(values, (ofEvent) => {
    const place = places.get(ofEvent);
    if (place === undefined) throw new DatabaseUnavailable(new Error('a series has no place'));
    return place;
  });
}

async function placesOf(
  thread: DuckdbThread,
  series: readonly NewSeries[],
): Promise<readonly (readonly [place: number, stagedPlace: number])[]> {
  if (series.length === 0) return [];
  await thread.run(plain(MAKE_STAGED_SERIES));
  for (let begin = 0; begin < series.length; begin += SLICE) {
    await thread.stage(STAGED.series, packSeries(series.slice(begin, begin + SLICE)));
  }
  const answers = await thread.transact([...statementsOf(placeSeriesSql(STAGED)), plain(PLACES)]);
  return (answers.at(-1) ?? []).map(([place, stagedPlace]) => [Number(place), Number(stagedPlace)] as const);
}
