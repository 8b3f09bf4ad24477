import type { Kysely } from 'kysely';
import { PostgresLease } from '../../sql/postgres/postgres-lease.ts';
import type { Tables } from '../../sql/tables.ts';
import type { FeedLease, FeedLeaseState, LeasedProgress } from './leased-row-feed.ts';

/** How long a lease lasts unless it is renewed, milliseconds: within the five seconds that analytics may be behind. */
const LEASE_MS = 2_500;

/** Leases of the feeds of events, one for each store of events. */
export class PostgresFeedLease implements FeedLease {
  readonly #lease: PostgresLease;

  constructor(database: Kysely<Tables>) {
    this.#lease = new PostgresLease(database, LEASE_MS);
  }

  async take(storeId: string): Promise<FeedLeaseState> {
    const { isHeld, noted } = await this.#lease.take(nameOf(storeId));
    const { place, is_refilling } = noted;
    return {
      isHeld,
      place: typeof place === 'string' ? place : undefined,
      isRefilling: is_refilling === true,
    };
  }

  async note(storeId: string, { place, isRefilling }: LeasedProgress): Promise<void> {
    await this.#lease.note(nameOf(storeId), {
      ...(place !== undefined && { place }),
      is_refilling: isRefilling,
    });
  }

  async restart(storeId: string): Promise<void> {
    await this.#lease.revoke(nameOf(storeId), { is_refilling: true });
  }

  async release(storeId: string): Promise<void> {
    await this.#lease.release(nameOf(storeId));
  }
}

function nameOf(storeId: string): string {
  return `event-feed-${storeId}`;
}
