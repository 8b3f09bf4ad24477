import type { GenerationEvent } from '../../../src/ports/events/events.ts';
import { openEventBundle } from '../../../src/store/events/duckdb/bundle/event-bundle.ts';

/** Events that are written at once. */
const SLICE = 2_000;

/** Writes events into a new bundle, which an event store takes in as a whole: the way to fill one with millions. */
export async function writeFilledBundle(file: string, events: Iterable<GenerationEvent>): Promise<void> {
  const bundle = openEventBundle(file, { keepsSlices: false });
  let slice: GenerationEvent[] = [];
  for (const event of events) {
    slice.push(event);
    if (slice.length < SLICE) continue;
    await bundle.add(slice);
    slice = [];
  }
  await bundle.add(slice);
  await bundle.close();
}
