import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { type ProxiedDatabase, proxied } from '../../kit/servers/proxied-database.ts';

const postgres = await postgresForTests();

const SOON = { timeout: 20_000, interval: 100 };

/** Longer than limits are waited for, shorter than statements of the ledger are. */
const DELAY_MS = 300;

if (postgres !== undefined) {
  describe('limits on a PostgreSQL that is slow', () => {
    let database: ProxiedDatabase;
    let gateway: TestGateway;

    beforeAll(async () => {
      database = await proxied(await postgres.createDatabase());
      gateway = await openTestGateway(
        { metrics: { public: true }, limits: { per_key: { requests_per_minute: 5 } } },
        { env: { DATABASE_URL: database.url } },
      );
    });
    afterAll(async () => {
      await gateway.close();
      await database.proxy.close();
    });

    const figure = async (name: string) => {
      const text = await (await fetch(`${gateway.origin}/metrics`)).text();
      return Number(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, 'm').exec(text)?.[1]);
    };
    const isUp = () => figure('signalbox_shared_memory_available');

    it('are those of this gateway meanwhile, and shared again afterwards', async () => {
      await expect.poll(isUp, SOON).toBe(1);
      const { key } = (await managementOf(gateway).ask('POST', '/keys', { name: 'k' })).body;
      // `/files` counts requests, and reserves no money.
      const statuses = async (times: number) => {
        const found: number[] = [];
        for (let count = 0; count < times; count++)
          found.push((await gateway.fetch('/files', { key })).status);
        return found;
      };
      expect(await statuses(1)).toEqual([200]);
      database.proxy.delayMs = DELAY_MS;
      expect(await statuses(6)).toEqual([200, 200, 200, 200, 429, 429]);
      expect(await isUp()).toBe(0);
      expect(await figure('signalbox_limits_decided_alone_total')).toBeGreaterThan(0);
      expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
      database.proxy.delayMs = 0;
      await expect.poll(isUp, SOON).toBe(1);
      await expect.poll(() => statuses(1), SOON).toEqual([429]);
    });
  });
}
