import { sql } from 'kysely';
import type { DatabaseAddress } from '../../kit/net/database-address.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { PostgresLimiter } from '../rate-limits/postgres-limiter.ts';
import { PostgresRoutingMemory } from '../routing-memory/postgres-routing-memory.ts';
import { awayCodeOf } from '../sql/database-unavailable.ts';
import type { OpenedPostgres } from '../sql/postgres/open-postgres.ts';
import type { SharedStores } from './shared-stores.ts';

/** Time between removals of what is over, milliseconds. */
const SWEEP_EVERY_MS = 60_000;

export function openPostgresStores(
  { database, background }: OpenedPostgres,
  { host, port }: DatabaseAddress,
  clock: Pick<Clock, 'now'>,
): SharedStores {
  const limiter = new PostgresLimiter(database, clock);
  const routing = new PostgresRoutingMemory(database);
  const sweepers = [new PostgresLimiter(background, clock), new PostgresRoutingMemory(background)];
  let sweeping = Promise.resolve();
  const timer = setInterval(() => {
    sweeping = sweeping.then(async () => {
      // What a database that is away leaves is removed the next time.
      for (const each of sweepers) await each.sweep().catch(() => {});
    });
  }, SWEEP_EVERY_MS).unref();
  return {
    kind: 'postgres',
    host: `${host}:${port}`,
    limiter,
    routing,
    probe: () => sql`select shared_clock_ms()`.execute(database),
    errorCode: awayCodeOf,
    async close() {
      clearInterval(timer);
      await sweeping;
    },
  };
}
