import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { redisForTests } from '../../kit/servers/redis-server.ts';
import { doctorReport } from '../../program/operator/doctor-report.ts';

const postgres = await postgresForTests();
const redis = await redisForTests();

const SOON = { timeout: 30_000, interval: 100 };

if (postgres !== undefined && redis !== undefined) {
  describe('doctor beside a gateway on PostgreSQL and Redis, without their addresses', () => {
    let gateway: TestGateway;
    let file: string;

    beforeAll(async () => {
      const env = {
        DATABASE_URL: await postgres.createDatabase(),
        REDIS_URL: `redis://127.0.0.1:${redis.port}`,
        SIGNALBOX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      };
      gateway = await openTestGateway({}, { env });
      file = join(gateway.dataDir, 'elsewhere.yaml');
      writeFileSync(file, '{}');
    });
    afterAll(() => gateway.close());

    const look = () => doctorReport(file, gateway.dataDir);
    const statusOf = async (part: string) => {
      const reply = await fetch(`${gateway.origin}/readyz`);
      const { parts } = (await reply.json()) as { parts: Record<string, { status: string }> };
      return parts[part]?.status;
    };

    it('shows the servers that the gateway uses, and the variable of its encryption key', async () => {
      const report = await look();
      // Verdicts of round trips are those of the machine.
      const [database, connections] = report.of('database');
      expect(database?.what).toMatch(/^PostgreSQL of DATABASE_URL: .*, answers in /);
      expect(connections?.figures).toMatchObject({ gateways: 1 });
      expect(report.of('redis')[0]?.what).toMatch(
        new RegExp(`^Redis \\d.* at 127\\.0\\.0\\.1:${redis.port}: `),
      );
      expect(report.of('clocks')[0]?.what).toContain('that of PostgreSQL');
      expect(report.of('secrets')).toMatchObject([
        { verdict: 'ok', what: expect.stringContaining('SIGNALBOX_ENCRYPTION_KEY of the gateway') },
      ]);
    });

    it('names a Redis that is down, and what to do', async () => {
      await redis.kill();
      await expect.poll(() => statusOf('redis'), SOON).toBe('limited');
      const report = await look();
      expect(report.code).toBe(1);
      expect(report.of('redis')).toMatchObject([
        {
          verdict: 'problem',
          what: `Redis at 127.0.0.1:${redis.port} cannot be used (ECONNREFUSED)`,
          mend: expect.stringContaining('see that it runs'),
        },
      ]);
      await redis.start();
      await expect.poll(() => statusOf('redis'), SOON).toBe('ok');
      expect((await look()).of('redis')[0]?.what).toMatch(/^Redis \d/);
    });

    it('names a PostgreSQL that is down, and what the ledger admits meanwhile', async () => {
      await postgres.stop();
      await expect.poll(() => statusOf('store'), SOON).toBe('unavailable');
      const report = await look();
      expect(report.code).toBe(1);
      expect(report.of('database')).toMatchObject([
        {
          verdict: 'problem',
          what: expect.stringMatching(/^the database test_1 at \S+ cannot be used \([A-Z0-9]+\)$/),
          mend: expect.stringContaining('see that it runs'),
        },
      ]);
      // A busy disk may add a line between them.
      expect(report.of('ledger')[0]).toMatchObject({
        verdict: 'warning',
        what: 'the books were not verified: the database does not answer',
      });
      expect(report.of('ledger').at(-1)).toMatchObject({
        verdict: 'problem',
        what: expect.stringMatching(/^the database does not answer: only what no limit covers/),
        mend: expect.stringContaining('mend the database'),
      });
      await postgres.start();
      await expect.poll(() => statusOf('store'), SOON).toBe('ok');
      const books = async () => (await look()).of('ledger')[0]?.what;
      await expect.poll(books, SOON).toContain('the money equation holds');
    });
  });
}
