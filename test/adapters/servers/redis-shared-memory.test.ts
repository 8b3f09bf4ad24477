import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { RedisLimiter } from '../../../src/store/rate-limits/redis-limiter.ts';
import { isWrongType, RedisClient } from '../../../src/store/redis/redis-client.ts';
import { RedisRoutingMemory } from '../../../src/store/routing-memory/redis-routing-memory.ts';
import { redisForTests } from '../../kit/servers/redis-server.ts';
import { limiterContract } from '../contracts/limiter.ts';
import { reportOf, routingMemoryContract } from '../contracts/routing-memory.ts';

const server = await redisForTests();

if (server !== undefined) {
  const connect = async (prefix = 'signalbox') => {
    const { port } = server;
    const address = {
      host: '127.0.0.1',
      port,
      database: 0,
      user: undefined,
      password: undefined,
      isTls: false,
    };
    const client = new RedisClient(address, prefix);
    await expect.poll(() => client.ping().then(() => true, String)).toBe(true);
    return client;
  };

  const open = async () => {
    await server.flush();
    const clients = [await connect(), await connect()] as const;
    const close = async () => {
      for (const client of clients) client.close();
    };
    return { clients, close };
  };

  limiterContract('RedisLimiter', Date.now, async () => {
    const { clients, close } = await open();
    const [limiter, other] = clients.map((client) => new RedisLimiter(client, systemClock));
    if (limiter === undefined || other === undefined) throw new Error('there are two');
    return { limiter, other, endWindows: () => server.flush(), close };
  });

  routingMemoryContract('RedisRoutingMemory', async () => {
    const { clients, close } = await open();
    const [memory, other] = clients.map((client) => new RedisRoutingMemory(client));
    if (memory === undefined || other === undefined) throw new Error('there are two');
    return { memory, other, pass: (ms) => delay(ms), close };
  });

  describe('shared memory in Redis', () => {
    const LIMIT = { name: 'n', subject: 'k', window: 'minute', unit: 'requests', max: 1 } as const;

    it('leaves no key without an end', async () => {
      const { clients, close } = await open();
      const limiter = new RedisLimiter(clients[0], systemClock);
      const memory = new RedisRoutingMemory(clients[0]);
      await limiter.take([LIMIT, { ...LIMIT, window: 'day', name: 'd' }]);
      await limiter.add([{ ...LIMIT, name: 't', amount: 7 }]);
      await memory.setPin('p', { site: 's', modelId: 'm' }, 60_000);
      await memory.takeProbe('p', 'a', 60_000);
      const news = { health: [reportOf('s')], movedPins: [] };
      await memory.exchange({ gatewayId: 'g', processId: 'g', after: null, news });
      const keys = (await server.command('KEYS', '*')) as string[];
      expect(keys).toHaveLength(8);
      for (const key of keys) {
        expect(key).toMatch(/^signalbox:/);
        expect(await server.command('PTTL', key)).toBeGreaterThan(0);
      }
      await close();
    });

    it('says that a key has another type, which is an answer and no outage', async () => {
      const { clients, close } = await open();
      const limiter = new RedisLimiter(clients[0], systemClock);
      await limiter.take([LIMIT]);
      const [key = ''] = ((await server.command('KEYS', '*')) as string[]).filter((name) =>
        name.endsWith('k'),
      );
      await server.command('DEL', key);
      await server.command('LPUSH', key, 'x');
      const problem = await limiter.take([LIMIT]).catch((error: unknown) => error);
      expect(isWrongType(problem)).toBe(true);
      expect(isWrongType(new Error('Connection is closed.'))).toBe(false);
      await close();
    });

    it('counts vendors apart', async () => {
      const { clients, close } = await open();
      const other = await connect('acme');
      expect((await new RedisLimiter(clients[0], systemClock).take([LIMIT])).ok).toBe(true);
      expect((await new RedisLimiter(other, systemClock).take([LIMIT])).ok).toBe(true);
      other.close();
      await close();
    });

    it('goes on after its scripts and keys were flushed', async () => {
      const { clients, close } = await open();
      const limiter = new RedisLimiter(clients[0], systemClock);
      await limiter.take([LIMIT]);
      await server.command('SCRIPT', 'FLUSH');
      expect((await limiter.take([LIMIT])).ok).toBe(false);
      await server.flush();
      expect((await limiter.take([LIMIT])).ok).toBe(true);
      await close();
    });
  });
}
