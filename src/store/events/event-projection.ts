import type { EventStore } from '../../ports/events.ts';
import type { Projection } from '../ledger/projector.ts';
import { eventOf } from './event-of.ts';

/** Settled generations as events. Those from before the last pruning are in the daily sums already. */
export function eventProjection(events: Pick<EventStore, 'append'>): Projection {
  return {
    name: 'events',
    async add(generations) {
      await events.append(generations.map(eventOf));
    },
  };
}
