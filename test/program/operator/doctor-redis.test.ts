import { expect, it } from 'vitest';
import { checkRedis } from '../../../src/doctor/check-redis.ts';
import { storeServers } from '../../../src/doctor/examination.ts';
import { parseRedisAddress } from '../../../src/kit/net/redis-address.ts';
import { freePort } from '../../kit/fakes/free-port.ts';
import { redisForTests } from '../../kit/servers/redis-server.ts';

const SECRET = 'canary-of-redis';
const server = await redisForTests();

const check = (url: string) => {
  const reading = parseRedisAddress(url);
  if (!reading.ok) throw new Error(reading.problem);
  return checkRedis({ stores: storeServers({ redis: reading.address }), holder: { kind: 'none' } });
};

it('has nothing to say without REDIS_URL', async () => {
  expect(await checkRedis({ stores: storeServers({}), holder: { kind: 'none' } })).toEqual([]);
});

it('names a Redis that does not answer, and what to do', async () => {
  const port = await freePort();
  expect(await check(`redis://:${SECRET}@127.0.0.1:${port}`)).toMatchObject([
    {
      verdict: 'problem',
      what: `Redis at 127.0.0.1:${port} cannot be used (ECONNREFUSED)`,
      mend: expect.stringMatching(/^see that it runs and that REDIS_URL leads to it; until then/),
    },
  ]);
});

if (server !== undefined) {
  it('shows the version and the round trip of one that answers, and changes nothing', async () => {
    const [finding] = await check(server.url);
    expect(finding?.what).toMatch(
      new RegExp(`^Redis \\d+\\.\\d+\\.\\d+ at 127\\.0\\.0\\.1:${server.port}: .*, answers in `),
    );
    expect(finding?.figures.round_trip_ms).toBeGreaterThan(0);
    expect(await server.command('KEYS', '*')).toEqual([]);
  });

  it('says that a password is missing or wrong, and repeats none', async () => {
    await server.command('CONFIG', 'SET', 'requirepass', SECRET);
    for (const [url, advice] of [
      [server.url, 'lacks the password'],
      [`redis://:wrong-${SECRET}@127.0.0.1:${server.port}`, 'wrong user or password'],
    ] as const) {
      const [finding] = await check(url);
      expect(finding?.mend).toContain(advice);
      expect(JSON.stringify(finding)).not.toContain(SECRET);
    }
  });
}
