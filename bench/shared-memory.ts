import { parseDatabaseAddress } from '../src/kit/net/database-address.ts';
import { parseRedisAddress } from '../src/kit/net/redis-address.ts';
import { systemClock } from '../src/kit/time/clock.ts';
import type { Limiter, RateLimit } from '../src/ports/shared/limiter.ts';
import type { RoutingMemory } from '../src/ports/shared/routing-memory.ts';
import { MemoryLimiter } from '../src/store/rate-limits/memory-limiter.ts';
import { MemoryRoutingMemory } from '../src/store/routing-memory/memory-routing-memory.ts';
import { openPostgresStores } from '../src/store/shared-memory/postgres-stores.ts';
import { openRedisStores } from '../src/store/shared-memory/redis-stores.ts';
import { openPostgres } from '../src/store/sql/postgres/open-postgres.ts';

/**
 * What a request waits for with shared limits: `take` with a minute and a day limit, one at a time and 64 at once, and
 * `findPin`. Servers: DATABASE_URL and REDIS_URL, as far as they are set.
 */
const ROUNDS = 2_000;
const TOGETHER = 64;

const limitsOf = (subject: string): RateLimit[] => [
  { name: 'requests-per-minute', subject, window: 'minute', unit: 'requests', max: 1e9 },
  { name: 'requests-per-day', subject, window: 'day', unit: 'requests', max: 1e9 },
];

function percentile(times: readonly number[], share: number): string {
  const sorted = times.toSorted((one, other) => one - other);
  return (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(3);
}

async function timed(name: string, rounds: number, work: (round: number) => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const beganAt = performance.now();
    await work(round);
    if (round >= rounds / 10) times.push(performance.now() - beganAt);
  }
  console.log(`  ${name}: p50 ${percentile(times, 0.5)} ms, p99 ${percentile(times, 0.99)} ms`);
}

async function measure(name: string, limiter: Limiter, routing: RoutingMemory): Promise<void> {
  console.log(name);
  const limits = limitsOf('hot'.padEnd(64, '0'));
  await timed('one request', ROUNDS, () => limiter.take(limits));
  const keys = Array.from({ length: TOGETHER }, (_, at) => limitsOf(String(at).padStart(64, '0')));
  await timed(`${TOGETHER} requests of one key at once`, ROUNDS / 20, () =>
    Promise.all(keys.map(() => limiter.take(limits))),
  );
  await timed(`${TOGETHER} requests of as many keys at once`, ROUNDS / 20, () =>
    Promise.all(keys.map((each) => limiter.take(each))),
  );
  await timed('the pin of a session', ROUNDS, (round) => routing.findPin(`session-${round}`));
}

await measure('memory', new MemoryLimiter(systemClock), new MemoryRoutingMemory(systemClock));

const database = parseDatabaseAddress(process.env.DATABASE_URL ?? '');
if (database.ok) {
  const opened = await openPostgres(database.address, { nowMs: Date.now() });
  const stores = openPostgresStores(opened, database.address, systemClock);
  await measure('PostgreSQL', stores.limiter, stores.routing);
  await stores.close();
  await opened.close();
}

const redis = parseRedisAddress(process.env.REDIS_URL ?? '');
if (redis.ok) {
  const stores = openRedisStores(redis.address, 'bench', systemClock);
  while (
    !(await stores.probe().then(
      () => true,
      () => false,
    ))
  )
    await new Promise((go) => setTimeout(go, 20));
  await measure('Redis', stores.limiter, stores.routing);
  await stores.close();
}
