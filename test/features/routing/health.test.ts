import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

const TOKEN = 'scrape-0123456789abcdef';
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway({ metrics: { token: TOKEN } });
});
afterAll(() => gateway.close());

const probe = async (path: string) => {
  const response = await fetch(gateway.origin + path);
  return { status: response.status, body: (await response.json()) as any };
};
const scrape = async (token: string) =>
  fetch(`${gateway.origin}/metrics`, { headers: { authorization: `Bearer ${token}` } });
const figure = async (line: string) =>
  Number(
    (await (await scrape(TOKEN)).text())
      .split('\n')
      .find((each) => each.startsWith(`${line} `))
      ?.split(' ')[1],
  );

it('readiness has the state of each part, and can be asked for one', async () => {
  const ok = { status: 'ok' };
  expect(await probe('/readyz')).toEqual({
    status: 200,
    body: { status: 'ok', parts: { ledger: ok, store: ok, events: ok, providers: ok } },
  });
  expect(await probe('/readyz?part=ledger')).toEqual({
    status: 200,
    body: { status: 'ok', parts: { ledger: ok } },
  });
  expect((await probe('/readyz?part=kitchen')).status).toBe(400);
});

it('the token of the configuration reads the metrics, and nothing like it does', async () => {
  expect((await scrape(TOKEN)).status).toBe(200);
  for (const wrong of [`${TOKEN}0`, TOKEN.slice(1), 'x']) expect((await scrape(wrong)).status).toBe(401);
  expect((await scrape(gateway.managementKey)).status).toBe(200);
  expect((await scrape(gateway.apiKey)).status).toBe(403);
});

it('metrics say how old the configuration is, and that its file is refused', async () => {
  expect(await figure('signalbox_configuration_file_refused')).toBe(0);
  expect(await figure('signalbox_configuration_age_seconds')).toBeGreaterThan(0);
  writeFileSync(gateway.configFile, 'metrics: { tokin: x }\n');
  await expect.poll(() => figure('signalbox_configuration_file_refused')).toBe(1);
  writeFileSync(gateway.configFile, `metrics: { token: ${TOKEN} }\n`);
  await expect.poll(() => figure('signalbox_configuration_file_refused')).toBe(0);
});

it('metrics count the requests of a workspace by their status, refused ones too', async () => {
  const other = await openTestGateway({ metrics: { public: true } });
  try {
    const { data } = managementOf(other);
    const { id } = await data(201, 'POST', '/workspaces', { name: 'Team', slug: 'team' });
    const made = await managementOf(other).ask('POST', '/keys', { name: 'n', workspace_id: id, limit: 0 });
    const ask = async (model: string) => {
      const body = { model, messages: [{ role: 'user', content: 'Hi' }] };
      const response = await other.post('/chat/completions', body, {
        authorization: `Bearer ${made.body.key}`,
      });
      await response.text();
      return response.status;
    };
    expect([await ask('simulator/standard'), await ask('no/such'), await ask('no/such')]).toEqual([
      402, 400, 400,
    ]);
    await other.fetch('/key', { key: made.body.key });
    const text = await (await fetch(`${other.origin}/metrics`)).text();
    const counts = [
      ...text.matchAll(/^signalbox_workspace_requests_total\{.*workspace="team",status="(\d+)"\} (\d+)$/gm),
    ];
    expect(counts.map(([, status, count]) => [status, count])).toEqual([
      ['402', '1'],
      ['400', '2'],
    ]);
  } finally {
    await other.close();
  }
});

it('metrics say what is left of balances, budgets and limits of keys, and of how much', async () => {
  const other = await openTestGateway({ metrics: { public: true, key_limits: 2 } });
  try {
    const management = managementOf(other);
    await management.command('accounts.create', { name: 'acme' });
    await management.command('credits.set', { account: 'acme', left: '7.5' });
    const budget = await management.ask('PUT', '/workspaces/default/budgets/monthly', { limit_usd: 20 });
    expect(budget.status).toBe(200);
    const limits = [5, 0, 7, null];
    for (const limit of limits) await management.data(201, 'POST', '/keys', { name: `of ${limit}`, limit });
    const text = await (await fetch(`${other.origin}/metrics`)).text();
    expect(text).toContain('signalbox_balance_left_usd{account="acme"} 7.5\n');
    expect(text).toMatch(
      /signalbox_budget_left_usd\{account="[^"]+",workspace="default",window="monthly"\} 20\n/,
    );
    expect(text).toMatch(
      /signalbox_budget_limit_usd\{account="[^"]+",workspace="default",window="monthly"\} 20\n/,
    );
    const keys = [
      ...text.matchAll(/^signalbox_key_limit_(left_)?usd\{.*key="([^"]+)",hash="[0-9a-f]{16}",(.*)$/gm),
    ];
    expect(keys.map(([, left, name, rest]) => [left ?? 'limit', name, rest])).toEqual([
      ['left_', 'of 0', 'window="lifetime"} 0'],
      ['left_', 'of 5', 'window="lifetime"} 5'],
      ['limit', 'of 0', 'window="lifetime"} 0'],
      ['limit', 'of 5', 'window="lifetime"} 5'],
    ]);
  } finally {
    await other.close();
  }
});
