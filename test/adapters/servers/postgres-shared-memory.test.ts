import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { PostgresLimiter } from '../../../src/store/rate-limits/postgres-limiter.ts';
import { PostgresRoutingMemory } from '../../../src/store/routing-memory/postgres-routing-memory.ts';
import { openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';
import { limiterContract } from '../contracts/limiter.ts';
import { reportOf, routingMemoryContract } from '../contracts/routing-memory.ts';

const server = await postgresForTests();

if (server !== undefined) {
  const open = async () => openPostgres(addressOf(await server.emptyDatabase()), { nowMs: 1 });

  limiterContract('PostgresLimiter', Date.now, async () => {
    const { database, close } = await open();
    return {
      limiter: new PostgresLimiter(database, systemClock),
      other: new PostgresLimiter(database, systemClock),
      endWindows: async () => {
        await sql`update rate_counts set ends_at_ms = shared_clock_ms()`.execute(database);
      },
      close,
    };
  });

  routingMemoryContract('PostgresRoutingMemory', async () => {
    const { database, close } = await open();
    return {
      memory: new PostgresRoutingMemory(database),
      other: new PostgresRoutingMemory(database),
      pass: (ms) => delay(ms),
      close,
    };
  });

  describe('shared memory in PostgreSQL', () => {
    const LIMIT = {
      name: 'requests-per-day',
      subject: 'k',
      window: 'day',
      unit: 'requests',
      max: 1,
    } as const;

    it('removes what is over, and nothing else', async () => {
      const { database, close } = await open();
      const limiter = new PostgresLimiter(database, systemClock);
      const memory = new PostgresRoutingMemory(database);
      await limiter.take([LIMIT]);
      await limiter.take([{ ...LIMIT, subject: 'old' }]);
      await sql`update rate_counts set ends_at_ms = 1 where subject = 'old'`.execute(database);
      await memory.setPin('new', { site: 's', modelId: 'm' }, 60_000);
      await memory.setPin('old', { site: 's', modelId: 'm' }, 0);
      await memory.takeProbe('p', 'a', 60_000);
      await memory.takeProbe('old', 'a', 0);
      const given = { gatewayId: 'g', processId: 'g', after: null };
      await memory.exchange({ ...given, news: { health: [reportOf('s')], movedPins: [] } });
      await memory.exchange({ ...given, news: { health: [reportOf('s')], movedPins: [] } });
      await sql`update routing_news set at_ms = 1 where position = (select min(position) from routing_news)`.execute(
        database,
      );
      await sql`insert into live_gateways values ('gone', 1)`.execute(database);
      await delay(5);
      await limiter.sweep();
      await memory.sweep();
      const { rows } = await sql`
        select (select count(*) from rate_counts)::int as counts, (select count(*) from routing_pins)::int as pins,
          (select count(*) from routing_probes)::int as probes, (select count(*) from routing_news)::int as news,
          (select count(*) from live_gateways)::int as gateways`.execute(database);
      expect(rows).toEqual([{ counts: 1, pins: 1, probes: 1, news: 1, gateways: 1 }]);
      await close();
    });

    it('ends windows that a clock which was ahead has begun', async () => {
      const { database, close } = await open();
      const limiter = new PostgresLimiter(database, systemClock);
      expect((await limiter.take([LIMIT])).ok).toBe(true);
      expect((await limiter.take([LIMIT])).ok).toBe(false);
      await sql`update rate_counts set ends_at_ms = ends_at_ms + 86400000`.execute(database);
      expect((await limiter.take([LIMIT])).ok).toBe(true);
      await close();
    });

    it('goes on with the news after a crash of the server has emptied the tables', async () => {
      const { database, close } = await open();
      const memory = new PostgresRoutingMemory(database);
      const given = { gatewayId: 'g', processId: 'g', after: '1000' };
      const news = { health: [reportOf('s')], movedPins: [] };
      expect((await memory.exchange({ ...given, news: { health: [], movedPins: [] } })).position).toBe(
        '1000',
      );
      await memory.exchange({ ...given, processId: 'h', news });
      const { received } = await memory.exchange({ ...given, news: { health: [], movedPins: [] } });
      expect(received).toHaveLength(1);
      await close();
    });
  });
}
