import { expect, it } from 'vitest';
import { eventHistory } from '../../../../../test/kit/builders/event-history.ts';
import { eventsOfSlice, sliceOf } from './usage-slices.ts';

it('has the same events after packing, amounts beyond 2^53 included', () => {
  const events = [...eventHistory(50, 3)].map((event, index) => ({
    ...event,
    ...(index === 0 && { creditNanos: 2n ** 60n + 1n, cacheNanos: -1n, webNanos: null }),
    isImported: true,
  }));
  const slice = sliceOf(events);
  expect(slice.events).toBe(50);
  expect(slice.lastEventMs).toBe(Math.max(...events.map(({ createdAtMs }) => createdAtMs)));
  expect(eventsOfSlice(slice)).toEqual(events);
  expect(sliceOf(events).id).toBe(slice.id);
});
