import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { chatAnswer, chatBody } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  reply,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

const CONFIG = (url: string) => ({
  providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: url, api_key: 'k' }],
  models: [
    {
      id: 'up/chat',
      endpoints: [{ provider: 'acme', model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } }],
    },
  ],
});

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway(CONFIG(upstream.url));
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

function scrape(key: string | null): Promise<Response> {
  return fetch(`${gateway.origin}/metrics`, {
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  });
}

/** Every figure by its name with labels. */
async function figures(): Promise<Map<string, number>> {
  const response = await scrape(gateway.managementKey);
  expect(response.status).toBe(200);
  const lines = (await response.text()).trimEnd().split('\n');
  return new Map(
    lines.flatMap((line) => {
      if (/^# (?:HELP|TYPE) [a-z_]+ .+$/.test(line)) return [];
      const [, name, value] = /^([a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)+\})?) (\S+)$/.exec(line) ?? [];
      expect(name, `a line that no collector reads: ${line}`).toBeDefined();
      return [[name ?? '', Number(value)] as const];
    }),
  );
}

test('only management keys may read them', async () => {
  expect((await scrape(null)).status).toBe(401);
  const plain = await scrape(gateway.apiKey);
  expect(plain.status).toBe(403);
  expect(await plain.json()).toMatchObject({
    error: { code: 403, message: 'Only management keys can perform this operation' },
  });
  const read = await scrape(gateway.managementKey);
  expect(read.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
});

test('keys of other accounts are refused: the figures cover all tenants', async () => {
  const { management_key: key } = await managementOf(gateway).command('accounts.create', { name: 'tenant' });
  const refused = await scrape(key);
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({
    error: { message: 'Only management keys of the first account can see the state of the installation' },
  });
});

test('tokens, cost, latency, failures and errors are counted', async () => {
  upstream.answer(chatAnswer({ text: 'ok', usage: { input: 7, output: 3 } }));
  await (await gateway.post('/chat/completions', chat('up/chat'))).json();
  upstream.clear();
  upstream.answer(reply(400, { error: { message: 'no' } }));
  expect((await gateway.post('/chat/completions', chat('up/chat'))).status).toBe(400);
  expect((await gateway.post('/chat/completions', chat('up/none'))).status).toBe(400);
  const seen = await figures();
  const expected = {
    'signalbox_generations_total{format="chat",provider="acme",outcome="finished",usage_source="measured"}': 1,
    'signalbox_tokens_total{provider="acme",kind="prompt"}': 7,
    'signalbox_tokens_total{provider="acme",kind="completion"}': 3,
    'signalbox_cost_usd_total{provider="acme",kind="credits"}': 0.000013,
    'signalbox_upstream_calls_total{provider="acme",status="200"}': 1,
    'signalbox_upstream_calls_total{provider="acme",status="400"}': 1,
    'signalbox_generation_failures_total{provider="acme",kind="invalid-request"}': 1,
    'signalbox_first_content_seconds_count{provider="acme"}': 1,
    'signalbox_http_requests_total{operation="createChatCompletion",status="200"}': 1,
    'signalbox_http_requests_total{operation="createChatCompletion",status="400"}': 2,
    'signalbox_http_errors_total{kind="invalid-request"}': 2,
    'signalbox_phase_seconds_count{phase="gateway"}': 3,
    signalbox_open_reservations: 0,
    signalbox_ledger_available: 1,
    signalbox_generations_in_flight: 0,
    'signalbox_endpoints_cooling{scope="everyone"}': 0,
    'signalbox_endpoints_cooling{scope="account"}': 0,
  };
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, seen.get(name)]))).toEqual(expected);
  expect(seen.get('signalbox_journal_lag_records{stage="journal"}')).toBe(0);
  expect(seen.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  expect(seen.get('signalbox_event_loop_delay_seconds{quantile="1"}')).toBeGreaterThanOrEqual(0);
});

test('requests in flight are shown', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  upstream.answer([() => held, head(200, JSON_TYPE), write(JSON.stringify(chatBody({ text: 'ok' }))), end()]);
  const answer = gateway.post('/chat/completions', chat('up/chat'));
  await expect.poll(async () => (await figures()).get('signalbox_open_reservations')).toBe(1);
  expect((await figures()).get('signalbox_generations_in_flight')).toBe(1);
  release();
  await (await answer).json();
  expect((await figures()).get('signalbox_open_reservations')).toBe(0);
});

test('an operator may make them public', async () => {
  const open = await openTestGateway({ ...CONFIG(upstream.url), metrics: { public: true } });
  try {
    const response = await fetch(`${open.origin}/metrics`);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('signalbox_info{version="');
    expect(open.logText()).not.toContain('no effect');
  } finally {
    await open.close();
  }
});

function chat(model: string) {
  return { model, messages: [{ role: 'user', content: 'x' }] };
}
