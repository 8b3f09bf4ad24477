import type { AppRegistry, AppSighting } from '../../../ports/apps.ts';
import type { EventStore, GenerationEvent } from '../../../ports/events.ts';
import type { Projected, Projection } from '../../ledger/projection/projector.ts';
import { oneOfEachApp, sightingOf } from './app-sightings.ts';
import { eventOf } from './event-of.ts';

/** A settled generation as it is counted. */
export interface CountedGeneration extends Projected {
  readonly event: GenerationEvent;
  /** The app that made it; undefined where none is known. */
  readonly sighting: AppSighting | undefined;
}

/** Settled generations as events, and the apps that made them. Those from before the last pruning are in the daily sums already. */
export function eventProjection(
  events: Pick<EventStore, 'append'>,
  apps: Pick<AppRegistry, 'note'>,
): Projection<CountedGeneration> {
  return {
    name: 'events',
    of: (generation) => ({
      id: generation.id,
      event: eventOf(generation),
      sighting: sightingOf(generation),
    }),
    async add(counted) {
      const sightings = oneOfEachApp(counted.map(({ sighting }) => sighting));
      if (sightings.length > 0) await apps.note(sightings);
      await events.append(counted.map(({ event }) => event));
    },
  };
}

/** A projection that is handed whole generations. */
export type GenerationTaker = Pick<Projection, 'name' | 'add'>;

/** Makes a projection take generations as they are. */
export function generationTaker<Item extends Projected>({
  name,
  of,
  add,
}: Projection<Item>): GenerationTaker {
  return { name, add: (generations) => add(generations.map(of)) };
}
