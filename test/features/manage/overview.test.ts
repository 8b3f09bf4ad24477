import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import type { Overview } from '../../../src/contract/analytics/overview.ts';
import { usdOf } from '../../../src/kit/money.ts';
import type { GenerationEvent } from '../../../src/ports/events/events.ts';
import { durationOf } from '../../adapters/contracts/count-events.ts';
import { eventHistory } from '../../kit/builders/event-history.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';
import { SIMULATED_UPSTREAMS } from '../../kit/models.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A history of two days, which ends an hour before now: the gateway's own generations come after it. */
const END_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
const FROM_MS = END_MS - DAY_MS;

let gateway: TestGateway;
let management: Management;
let history: readonly GenerationEvent[];
let ownKey: { readonly hash: string; readonly secret: string };

beforeAll(async () => {
  gateway = await openTestGateway(
    { ...SIMULATED_UPSTREAMS, limits: { analytics_per_minute: 100_000 } },
    {
      prepare: async (dataDir) => {
        const installation = await openInstallation({ dataDir, keyPrefix: 'sk-sb-v1-' });
        const { id: accountId } = await installation.accounts.ensureFirst();
        const { statement, secret } = await installation.keys.create(accountId, { name: 'Robot' });
        ownKey = { hash: statement.key.hash, secret };
        const [first] = eventHistory(1, 1);
        const shiftMs = END_MS - 2 * DAY_MS - (first?.createdAtMs ?? 0);
        // Usage from elsewhere, which no ledger booked.
        history = [...eventHistory(3_000, 2)].map((event) => ({
          ...event,
          createdAtMs: event.createdAtMs + shiftMs,
          accountId,
          keyHash: event.keyHash === 'key-0' ? statement.key.hash : event.keyHash,
          isImported: true,
        }));
        await installation.eventStore.append(history);
        await installation.close();
      },
    },
  );
  management = managementOf(gateway);
});

afterAll(() => gateway.close());

const iso = (ms: number) => new Date(ms).toISOString();

async function overviewOf(query: Record<string, string> = {}, key?: string): Promise<Overview> {
  const range = { from: iso(FROM_MS), to: iso(END_MS), ...query };
  const { status, body } = await management.ask(
    'GET',
    `/overview?${new URLSearchParams(range)}`,
    undefined,
    key,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as unknown as { data: Overview }).data;
}

const within = (fromMs: number, toMs: number) =>
  history.filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < toMs);
const usage = (events: readonly GenerationEvent[]) =>
  usdOf(events.reduce((sum, { creditNanos, byokNanos }) => sum + creditNanos + byokNanos, 0n));
const failed = (events: readonly GenerationEvent[]) =>
  events.filter((event) => event.finishReason === 'error');

describe('GET /overview', () => {
  it('sums up the range and the period before', async () => {
    const { now, before, granularity, by, before_from } = await overviewOf();
    const [today, yesterday] = [within(FROM_MS, END_MS), within(FROM_MS - DAY_MS, FROM_MS)];
    expect({ granularity, by, before_from }).toEqual({
      granularity: 'hour',
      by: 'model',
      before_from: iso(FROM_MS - DAY_MS),
    });
    expect(now).toMatchObject({
      total_usage: usage(today),
      request_count: today.length,
      error_count: failed(today).length,
      tokens_total: today.reduce((sum, event) => sum + event.promptTokens + event.completionTokens, 0),
    });
    expect(before).toMatchObject({ total_usage: usage(yesterday), request_count: yesterday.length });
    const times = today.flatMap((event) => durationOf(event) ?? []).sort((one, other) => one - other);
    expect(now.p50_duration).toBe(times[Math.ceil(times.length / 2) - 1]);
  });

  it('has series that add up to the totals, and stacks of the first six groups', async () => {
    const { now, series, stacks, groups, group_count } = await overviewOf({ by: 'model' });
    const added = (rows: readonly { request_count: number }[]) =>
      rows.reduce((sum, { request_count }) => sum + request_count, 0);
    expect(added(series)).toBe(now.request_count);
    expect(series.map(({ date }) => date)).toEqual(series.map(({ date }) => date).toSorted());
    expect(groups.length).toBe(group_count);
    expect(added(groups.map(({ now: figures }) => figures))).toBe(now.request_count);
    const first = groups.slice(0, 6);
    expect(new Set(stacks.map(({ id }) => id))).toEqual(new Set(first.map(({ id }) => id)));
    expect(added(stacks)).toBe(added(first.map(({ now: figures }) => figures)));
    expect(groups.map(({ now: { total_usage } }) => total_usage)).toEqual(
      groups.map(({ now: { total_usage } }) => total_usage).toSorted((one, other) => other - one),
    );
  });

  it('names keys, and groups without a value', async () => {
    const { groups } = await overviewOf({ by: 'key' });
    expect(groups.find(({ id }) => id === ownKey.hash)?.name).toBe('Robot');
    expect(groups.find(({ id }) => id === null)?.name).toBe('no key');
    const ofNone = within(FROM_MS, END_MS).filter(({ keyHash }) => keyHash === null);
    expect(groups.find(({ id }) => id === null)?.now.request_count).toBe(ofNone.length);
  });

  it('filters by any of several values', async () => {
    const { now } = await overviewOf({ model: 'acme/model-1,acme/model-2', provider: 'Provider 1' });
    const expected = within(FROM_MS, END_MS).filter(({ modelId }) => modelId === 'acme/model-1');
    expect(now.request_count).toBe(expected.length);
  });

  it('counts errors by cause, most first', async () => {
    const { errors, now } = await overviewOf();
    expect(errors.reduce((sum, { error_count }) => sum + error_count, 0)).toBe(now.error_count);
    const [first] = errors;
    const alike = failed(within(FROM_MS, END_MS)).filter(
      ({ log, provider }) => log?.errorStatus === first?.status && provider === first?.provider,
    );
    expect(first?.error_count).toBe(alike.length);
  });

  it.each([
    [HOUR_MS, 'minute'],
    [7 * DAY_MS, 'hour'],
    [31 * DAY_MS, 'day'],
    [365 * DAY_MS, 'week'],
  ])('chooses time buckets for %i ms: %s', async (lengthMs, granularity) => {
    expect((await overviewOf({ from: iso(END_MS - lengthMs) })).granularity).toBe(granularity);
  });

  it.each([
    ['from=soon', 'from: must be an ISO 8601 timestamp'],
    ['from=2026-01-02&to=2026-01-01', 'from: must be before to'],
    ['from=2024-01-01&to=2026-01-01', 'from: must not be more than 366 days before to'],
    ['by=planet', 'by'],
    ['by=model&colour=red', 'colour'],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await management.ask('GET', `/overview?${query}`);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(message);
  });

  it('agrees with the ledger to the nano-dollar, whatever was imported', async () => {
    const complete = (key?: string, model = 'chat/standard') =>
      gateway.fetch('/chat/completions', {
        method: 'POST',
        ...(key !== undefined && { key }),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello' }] }),
      });
    for (const key of [ownKey.secret, undefined]) expect((await complete(key)).status).toBe(200);
    expect((await complete(undefined, 'chat/fail-500')).status).toBeGreaterThanOrEqual(500);
    const { ledger, now, errors } = await overviewOf({ from: iso(END_MS), to: iso(Date.now() + HOUR_MS) });
    expect(now).toMatchObject({ request_count: 3, error_count: 1, total_usage: ledger.counted });
    expect(errors).toEqual([
      { status: expect.any(Number), type: expect.any(String), provider: 'Simulated chat', error_count: 1 },
    ]);
    expect(ledger).toMatchObject({ state: 'agrees', difference: 0, imported: usage(history) });
    expect(ledger.booked).toBe(ledger.counted);
    expect(ledger.booked).toBeGreaterThan(0);
    expect(Date.parse(ledger.newest_generation_at ?? '')).toBeGreaterThan(END_MS);
    const { ledger: ofKey } = await overviewOf({}, ownKey.secret);
    expect(ofKey.state).toBe('agrees');
    expect(ofKey.booked).toBeCloseTo(ledger.booked / 2, 9);
  });

  it('shows a key that is no management key itself alone, whatever it filters by', async () => {
    const own = within(FROM_MS, END_MS).filter(({ keyHash }) => keyHash === ownKey.hash);
    expect((await overviewOf({}, ownKey.secret)).now.request_count).toBe(own.length);
    expect((await overviewOf({ key: 'key-2' }, ownKey.secret)).now.request_count).toBe(0);
  });

  it('needs a key', async () => {
    expect((await management.ask('GET', '/overview', undefined, 'nonsense')).status).toBe(401);
  });
});
