import type { EventStore } from '../../../src/ports/events/events.ts';

/** What an account was charged for, as the events have it. */
export interface EventSums {
  readonly requests: bigint;
  readonly creditNanos: bigint;
}

/** The sums of all events of an account. */
export async function eventSumsOf(events: Pick<EventStore, 'query'>, accountId: string): Promise<EventSums> {
  const { rows } = await events.query({
    accountId,
    metrics: ['request_count', 'credits_usage'],
    dimensions: [],
    granularity: null,
    startMs: 0,
    endMs: 2 ** 45,
    filters: [],
    order: null,
    limit: 1,
    groupLimit: null,
  });
  const [requests = 0n, creditNanos = 0n] = rows[0]?.metrics ?? [];
  return { requests: BigInt(requests ?? 0), creditNanos: BigInt(creditNanos ?? 0) };
}
