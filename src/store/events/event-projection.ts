import type { AppRegistry } from '../../ports/apps.ts';
import type { EventStore } from '../../ports/events.ts';
import type { Projection } from '../ledger/projector.ts';
import { appSightingsOf } from './app-sightings.ts';
import { eventOf } from './event-of.ts';

/** Settled generations as events, and the apps that made them. Those from before the last pruning are in the daily sums already. */
export function eventProjection(
  events: Pick<EventStore, 'append'>,
  apps: Pick<AppRegistry, 'note'>,
): Projection {
  return {
    name: 'events',
    async add(generations) {
      await apps.note(appSightingsOf(generations));
      await events.append(generations.map(eventOf));
    },
  };
}
