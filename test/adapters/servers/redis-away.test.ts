import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTcpProxy, type TcpProxy } from '../../kit/fakes/tcp-proxy.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { redisForTests } from '../../kit/servers/redis-server.ts';

const postgres = await postgresForTests();
const redis = await redisForTests();

const LOST =
  'the shared memory of limits and routing does not answer; each gateway admits its share and routes by itself';
const FOUND = 'the shared memory of limits and routing answers again';

const REFUSED =
  'the shared memory refuses a question about one key, which something else has written; this gateway decides by ' +
  'itself whatever asks for it: remove the key';

/** The store is lost or found by then, on a busy machine too. */
const SOON = { timeout: 20_000, interval: 100 };

/** Longer than the delay of a proxy: a request that waits for Redis takes at least as long. */
const DELAY_MS = 3_000;

const LIMIT = 10;

if (postgres !== undefined && redis !== undefined) {
  describe('two gateways whose Redis fails', () => {
    let proxy: TcpProxy;
    let gateways: readonly [TestGateway, TestGateway];
    let key: string;
    let keyHash: string;

    beforeAll(async () => {
      proxy = await openTcpProxy({ host: '127.0.0.1', port: redis.port });
      const env = {
        DATABASE_URL: await postgres.createDatabase(),
        REDIS_URL: `redis://:not-needed-secret@127.0.0.1:${proxy.port}`,
      };
      await redis.command('CONFIG', 'SET', 'requirepass', '');
      await redis.command('ACL', 'SETUSER', 'default', 'on', '>not-needed-secret', 'nopass');
      const config = { metrics: { public: true }, limits: { per_key: { requests_per_minute: LIMIT } } };
      gateways = [await openTestGateway(config, { env }), await openTestGateway(config, { env })];
    });
    afterAll(async () => {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await proxy.close();
    });
    beforeEach(async () => {
      await untilFound();
      const { body } = await managementOf(gateways[0]).ask('POST', '/keys', { name: 'k' });
      key = body.key;
      keyHash = body.data.hash;
    });
    afterEach(async () => {
      proxy.delayMs = 0;
      proxy.setFault('none');
      redis.resume();
      await redis.start();
    });

    const figure = async ({ origin }: TestGateway, name: string) => {
      const text = await (await fetch(`${origin}/metrics`)).text();
      return Number(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'm').exec(text)?.[1]);
    };
    const isUp = async (gateway: TestGateway) =>
      (await figure(gateway, 'signalbox_shared_memory_available')) === 1 &&
      (await figure(gateway, 'signalbox_gateways')) === 2;
    const untilFound = async () => {
      for (const gateway of gateways) await expect.poll(() => isUp(gateway), SOON).toBe(true);
    };

    const slowDown = () => {
      proxy.delayMs = DELAY_MS;
    };

    async function ask(gateway: TestGateway): Promise<{ status: number; tookMs: number }> {
      const beganAt = performance.now();
      const body = { model: 'simulator/standard', input: 'hello' };
      const response = await gateway.post('/responses', body, { authorization: `Bearer ${key}` });
      await response.arrayBuffer();
      return { status: response.status, tookMs: performance.now() - beganAt };
    }

    /** Requests that a gateway admits of twice the limit, one after the other. */
    async function admittedAt(gateway: TestGateway): Promise<number> {
      let admitted = 0;
      const times: number[] = [];
      for (let count = 0; count < 2 * LIMIT; count++) {
        const { status, tookMs } = await ask(gateway);
        times.push(tookMs);
        expect([200, 429]).toContain(status);
        if (status === 200) admitted += 1;
      }
      // The middle one: a busy machine holds one of them up now and then.
      expect(times.sort((one, other) => one - other)[LIMIT]).toBeLessThan(DELAY_MS);
      return admitted;
    }

    it.each([
      ['delays every answer', () => slowDown(), () => {}],
      ['swallows everything', () => proxy.setFault('black-hole'), () => {}],
      ['is cut off', () => proxy.setFault('cut'), () => {}],
      ['is stopped', () => redis.pause(), () => redis.resume()],
      ['is killed', () => redis.kill(), () => redis.start()],
    ])(
      'admit their shares without waiting while it %s, and share again afterwards',
      async (_, fail, mend) => {
        const before = gateways.map((gateway) => gateway.logged(LOST).length);
        await fail();
        const admitted = [await admittedAt(gateways[0]), await admittedAt(gateways[1])];
        expect(admitted).toEqual([LIMIT / 2, LIMIT / 2]);
        for (const [at, gateway] of gateways.entries()) {
          await expect.poll(() => gateway.logged(LOST).length, SOON).toBeGreaterThan(before[at] ?? 0);
          const ready = await fetch(`${gateway.origin}/readyz`);
          expect(ready.status).toBe(200);
          expect(await ready.json()).toMatchObject({ status: 'ok', parts: { redis: { status: 'limited' } } });
          expect(gateway.logged(LOST).at(-1)).toMatchObject({
            store: 'redis',
            host: `127.0.0.1:${proxy.port}`,
            // A server that is silent has no code.
            errno: expect.stringMatching(/^(?:[A-Z]+|no answer)$/),
          });
          expect(await figure(gateway, 'signalbox_limits_decided_alone_total')).toBeGreaterThanOrEqual(
            2 * LIMIT,
          );
        }
        await mend();
        proxy.delayMs = 0;
        proxy.setFault('none');
        await untilFound();
        for (const gateway of gateways) {
          await expect.poll(() => gateway.logged(FOUND).length, SOON).toBe(gateway.logged(LOST).length);
          expect(gateway.logText()).not.toContain('not-needed-secret');
        }
        // What was admitted meanwhile is counted.
        await expect.poll(async () => (await ask(gateways[0])).status, SOON).toBe(429);
        expect((await ask(gateways[1])).status).toBe(429);
      },
    );

    it('say that a key has another type, and decide its requests by their shares', async () => {
      const count = `signalbox:count:requests-per-minute:${keyHash}`;
      expect((await ask(gateways[0])).status).toBe(200);
      await expect.poll(() => redis.command('GET', count), SOON).toBe('1');
      // Neither is the other gateway forgotten with the keys.
      await redis.command('FLUSHALL');
      await redis.command('RPUSH', count, 'written by something else');
      expect(await admittedAt(gateways[1])).toBe(LIMIT / 2);
      const lines = gateways[1].logged(REFUSED);
      expect(lines).toMatchObject([{ store: 'redis', errno: 'WRONGTYPE', keys: 'signalbox:*' }]);
      await redis.command('DEL', count);
      expect((await ask(gateways[0])).status).toBe(200);
    });

    it('start without it, and find it when it comes', async () => {
      proxy.setFault('cut');
      const late = await openTestGateway({}, { env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}` } });
      const asked = await late.post('/responses', { model: 'simulator/standard', input: 'hello' });
      expect(asked.status).toBe(200);
      expect(late.logged(LOST)).toHaveLength(1);
      proxy.setFault('none');
      await expect.poll(() => late.logged(FOUND).length, SOON).toBe(1);
      await late.close();
    });
  });
}
