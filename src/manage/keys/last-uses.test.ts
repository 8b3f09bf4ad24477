import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../ir/errors.ts';
import type { EventAnswer, EventQuery } from '../../ports/events/events.ts';
import { lastUsesOf } from './last-uses.ts';

const answering = (answer: (query: EventQuery) => EventAnswer) => ({
  query: async (query: EventQuery) => answer(query),
});

describe('lastUsesOf', () => {
  it('asks one question for all keys, and leaves out those without events', async () => {
    const asked: EventQuery[] = [];
    const events = answering((query) => {
      asked.push(query);
      const rows = [{ bucketMs: null, dimensions: ['b'], metrics: [1_700_000_000_123] }];
      return { rows, totalRows: 1, isTruncated: false, missingBeforeMs: null };
    });
    expect(await lastUsesOf(events, 'account', ['a', 'b'])).toEqual(new Map([['b', 1_700_000_000_123]]));
    expect(asked).toMatchObject([{ accountId: 'account', limit: 2, filters: [{ values: ['a', 'b'] }] }]);
  });

  it('asks nothing for no keys', async () => {
    const events = answering(() => {
      throw new Error('was asked');
    });
    expect(await lastUsesOf(events, 'account', [])).toEqual(new Map());
  });

  it('knows nothing while the events do not answer', async () => {
    const events = answering(() => {
      throw new GatewayError('overloaded', 'analytics do not answer');
    });
    expect(await lastUsesOf(events, 'account', ['a'])).toBeUndefined();
  });

  it('passes on other errors', async () => {
    const events = answering(() => {
      throw new TypeError('a mistake');
    });
    await expect(lastUsesOf(events, 'account', ['a'])).rejects.toThrow('a mistake');
  });
});
