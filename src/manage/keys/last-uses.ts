import { GatewayError } from '../../ir/errors.ts';
import type { EventStore } from '../../ports/events/events.ts';

/** How long a list of keys waits for it, milliseconds. */
const PATIENCE_MS = 2_000;

/** Any event is within. */
const ALL_TIME = { startMs: 0, endMs: 2 ** 52 };

/**
 * When the newest kept generation of each key came in, epoch milliseconds, by hash: keys without one are left out.
 * One grouped query for all of them. Undefined if the events do not answer, or not in time.
 */
export async function lastUsesOf(
  events: Pick<EventStore, 'query'>,
  accountId: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, number> | undefined> {
  if (hashes.length === 0) return new Map();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const { rows } = await events.query(
      {
        ...ALL_TIME,
        accountId,
        metrics: ['newest_ms'],
        dimensions: ['api_key_id'],
        granularity: null,
        filters: [{ field: 'api_key_id', operator: 'in', values: hashes, includesUnset: false }],
        order: null,
        limit: hashes.length,
        groupLimit: null,
      },
      signal,
    );
    return new Map(rows.map(({ dimensions: [hash], metrics: [ms] }) => [hash ?? '', Number(ms)]));
  } catch (error) {
    if (error instanceof GatewayError || signal.aborted) return undefined;
    throw error;
  }
}
