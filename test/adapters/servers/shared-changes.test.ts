import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

/** A change must be known within a second; a busy machine gets more. */
const PATIENCE = { timeout: 10_000, interval: 20 };

const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

if (server !== undefined) {
  describe('gateways on one database', () => {
    let one: TestGateway;
    let other: TestGateway;
    let here: Management;
    let url: string;

    beforeAll(async () => {
      url = await server.createDatabase();
      const open = () =>
        openTestGateway({}, { env: { DATABASE_URL: url, SIGNALBOX_ENCRYPTION_KEY: ENCRYPTION_KEY } });
      [one, other] = [await open(), await open()];
      here = managementOf(one);
    });

    afterAll(() => Promise.all([one?.close(), other?.close()]));

    const makeKey = async (more: object = {}) => {
      const { status, body } = await here.ask('POST', '/keys', { name: 'n', ...more });
      expect(status).toBe(201);
      return { secret: body.key as string, hash: body.data.hash as string };
    };

    /** Asks the other gateway, as a caller that it knows. */
    const statusOf = async (key: string) => (await other.fetch('/key', { key })).status;

    const ask = async (gateway: TestGateway, key: string) =>
      (
        await gateway.fetch('/responses', {
          method: 'POST',
          key,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'simulator/standard', input: 'hello' }),
        })
      ).status;

    it('refuse a key that another one has disabled or deleted', async () => {
      const { secret, hash } = await makeKey();
      expect(await statusOf(secret)).toBe(200);
      await here.data(200, 'PATCH', `/keys/${hash}`, { disabled: true });
      await expect.poll(() => statusOf(secret), PATIENCE).toBe(401);
      await here.data(200, 'PATCH', `/keys/${hash}`, { disabled: false });
      await expect.poll(() => statusOf(secret), PATIENCE).toBe(200);
      await here.ask('DELETE', `/keys/${hash}`);
      await expect.poll(() => statusOf(secret), PATIENCE).toBe(401);
    });

    it('enforce a budget and a guardrail that another one has set', async () => {
      const { data } = (await here.ask('POST', '/workspaces', { name: 'w', slug: 'w' })).body;
      const { secret, hash } = await makeKey({ workspace_id: data.id });
      expect(await ask(other, secret)).toBe(200);
      await here.data(200, 'PUT', `/workspaces/${data.id}/budgets/daily`, { limit_usd: 0.000001 });
      await expect.poll(() => ask(other, secret), PATIENCE).toBe(403);
      await here.ask('DELETE', `/workspaces/${data.id}/budgets/daily`);
      await expect.poll(() => ask(other, secret), PATIENCE).toBe(200);
      const rules = { name: 'g', workspace_id: data.id, ignored_models: ['simulator/standard'] };
      const { id } = await here.data(201, 'POST', '/guardrails', rules);
      await here.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] });
      await expect.poll(() => ask(other, secret), PATIENCE).not.toBe(200);
      await here.ask('DELETE', `/guardrails/${id}`);
      await expect.poll(() => ask(other, secret), PATIENCE).toBe(200);
    });

    it('use a credential that another one was given', async () => {
      const { secret } = await makeKey();
      const isByok = async () => {
        const answer = await other.fetch('/responses', {
          method: 'POST',
          key: secret,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'simulator/standard', input: 'hello' }),
        });
        return ((await answer.json()) as any).usage?.is_byok;
      };
      expect(await isByok()).toBe(false);
      const { id } = await here.data(201, 'POST', '/byok', {
        provider: 'simulator',
        key: 'a-key-of-their-own',
      });
      await expect.poll(isByok, PATIENCE).toBe(true);
      await here.ask('DELETE', `/byok/${id}`);
      await expect.poll(isByok, PATIENCE).toBe(false);
    });

    it('have in their analytics what was imported at another one', async () => {
      const file = join(one.dataDir, 'usage.ndjson');
      const created = new Date(Date.now() - 20 * 86_400_000).toISOString();
      const line = { model: 'acme/large', tokens_prompt: 100, tokens_completion: 20, cost_usd: 0.25 };
      const lines = Array.from({ length: 10 }, (_, index) =>
        JSON.stringify({ generation_id: `imported-${index}`, created_at: created, ...line }),
      );
      writeFileSync(file, `${lines.join('\n')}\n`);
      let err = '';
      const code = await run(
        ['usage', 'import', file, '--data-dir', one.dataDir, '--config', one.configFile],
        { out: () => {}, err: (text) => (err += text) },
      );
      expect({ code: code ?? 0, err }).toMatchObject({ code: 0 });
      const query = {
        metrics: ['request_count'],
        time_range: {
          start: new Date(Date.now() - 25 * 86_400_000).toISOString(),
          end: new Date().toISOString(),
        },
        filters: [{ field: 'model', operator: 'eq', value: 'acme/large' }],
      };
      const counted = async (gateway: TestGateway) =>
        (await managementOf(gateway).ask('POST', '/analytics/query', query)).body.data?.data?.[0]
          ?.request_count;
      await expect.poll(() => counted(one), PATIENCE).toBe(10);
      await expect.poll(() => counted(other), PATIENCE).toBe(10);
    });
  });
}
