import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import {
  type FakeUpstream,
  head,
  never,
  openFakeUpstream,
  reply,
  reset,
  type Script,
  SSE,
  stall,
  truncate,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { EXPIRED, openRawServer, type RawServer, SELF_SIGNED } from '../../kit/fakes/raw-server.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** What must be in no line: credentials, and what callers say. */
const PROVIDER_KEY = 'wrong-key-8f3a2b1c9d';
const PROMPT = 'the-words-of-the-caller';

let upstream: FakeUpstream;
let good: FakeUpstream;
let expired: RawServer;
let untrusted: RawServer;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  good = await openFakeUpstream();
  good.answer(chatAnswer({ text: 'Hello' }));
  expired = await openRawServer(() => {}, EXPIRED);
  untrusted = await openRawServer(() => {}, SELF_SIGNED);
  const providers = {
    up: upstream.url,
    good: good.url,
    dead: `http://127.0.0.1:${await closedPort()}/v1`,
    nowhere: 'http://no-such-host.invalid/v1',
    expired: `https://localhost:${expired.port}/v1`,
    untrusted: `https://localhost:${untrusted.port}/v1`,
    ill: upstream.url,
    silent: upstream.url,
  };
  gateway = await openTestGateway({
    routing: { cooldown: { failures: 3, base_ms: 1, max_ms: 2 } },
    providers: Object.entries(providers).map(([slug, base_url]) => ({
      slug,
      name: slug.toUpperCase(),
      dialect: 'openai-chat',
      base_url,
      api_key: PROVIDER_KEY,
      // The others answer in their own time, however busy the machine is.
      timeouts_ms: { first_byte: slug === 'silent' ? 300 : 30_000 },
    })),
    models: [
      ...Object.keys(providers).map((slug) => modelOf(slug, [slug])),
      modelOf('rescued', ['up', 'good']),
    ],
  });
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([upstream, good, expired, untrusted].map((server) => server.close()));
});

function modelOf(name: string, slugs: readonly string[]) {
  const endpoints = slugs.map((provider) => ({ provider, model: `${name}-v1`, tag: `${provider}/main` }));
  return { id: `m/${name}`, endpoints };
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Asked {
  readonly script?: Script;
  readonly stream?: boolean;
  readonly provider?: object;
}

async function ask(model: string, { script, stream = false, provider }: Asked = {}) {
  if (script !== undefined) {
    upstream.clear();
    upstream.answer(script);
  }
  const before = gateway.logText().length;
  const response = await gateway.post(
    '/chat/completions',
    { model: `m/${model}`, messages: [{ role: 'user', content: PROMPT }], stream, provider },
    { 'x-request-id': 'req-of-the-caller' },
  );
  await response.text();
  return { status: response.status, lines: linesSince(before) };
}

type Line = Record<string, unknown> & { readonly message: string; readonly level: string };

/** Without the lines about a disk that is slow because the machine is busy. */
function linesSince(before: number): Line[] {
  return gateway
    .logText()
    .slice(before)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
    .filter(({ level, message }) => level !== 'debug' && !/\bdisk\b/.test(message));
}

const failure = (code: string, message = `no ${PROVIDER_KEY} here`) => ({
  error: { message, code, type: code },
});

describe('a generation that fails is one warning that says why', () => {
  it.each([
    ['a dead provider', 'dead', {}, { error_kind: 'upstream-unavailable', errno: 'ECONNREFUSED' }],
    [
      'a refused name',
      'nowhere',
      {},
      { error_kind: 'upstream-unavailable', errno: expect.stringMatching(/^E/) },
    ],
    ['an expired certificate', 'expired', {}, { errno: 'CERT_HAS_EXPIRED' }],
    ['an untrusted certificate', 'untrusted', {}, { errno: 'DEPTH_ZERO_SELF_SIGNED_CERT' }],
    [
      'a wrong key',
      'up',
      { script: reply(401, failure('invalid_api_key')) },
      { error_kind: 'upstream-unavailable', upstream_status: 401, upstream_code: 'invalid_api_key' },
    ],
    [
      'a model that the provider has removed',
      'up',
      { script: reply(404, failure('model_not_found')) },
      { error_kind: 'not-found', upstream_status: 404, upstream_code: 'model_not_found' },
    ],
    [
      'a rate limit',
      'up',
      { script: reply(429, failure('rate_limit_exceeded')) },
      { error_kind: 'rate-limited', upstream_status: 429, upstream_code: 'rate_limit_exceeded' },
    ],
    [
      'a fault of the provider',
      'up',
      { script: reply(500, failure('internal')) },
      { error_kind: 'upstream-unavailable', upstream_status: 500, upstream_code: 'internal' },
    ],
    [
      'silence',
      'silent',
      { stream: true, script: [never()] },
      { error_kind: 'upstream-timeout', upstream_status: null },
    ],
    [
      'garbage',
      'up',
      { script: reply(200, '<html>it works</html>') },
      { error_kind: 'upstream-unavailable', upstream_status: 200 },
    ],
    [
      'a connection that is reset in the middle of a stream',
      'up',
      { stream: true, script: [head(200, SSE), write(BEGUN()), reset()] },
      { error_kind: 'upstream-unavailable', upstream_status: 200, errno: 'ECONNRESET' },
    ],
    [
      'a stream that ends early',
      'up',
      { stream: true, script: [head(200, SSE), write(BEGUN()), truncate()] },
      { error_kind: 'upstream-unavailable', upstream_status: 200 },
    ],
  ] satisfies [string, string, Asked, object][])('%s', async (_, name, asked, wanted) => {
    const { lines } = await ask(name, asked);
    const about = lines.filter(({ message }) => message.startsWith('generation'));
    expect(about).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: 'generation failed',
        id: expect.stringMatching(/^gen-/),
        request_id: 'req-of-the-caller',
        model: `m/${name}`,
        provider: name,
        endpoint: `${name}/main`,
        reason: expect.stringMatching(/\w/),
        duration_ms: expect.any(Number),
        ...wanted,
      }),
    ]);
    expect(about[0]?.attempt_log).toEqual([
      expect.objectContaining({
        endpoint: `${name}/main`,
        status: about[0]?.upstream_status,
        upstream_code: about[0]?.upstream_code,
        errno: about[0]?.errno,
        error_kind: about[0]?.error_kind,
        duration_ms: expect.any(Number),
      }),
    ]);
  });

  it('tells a connection that is reset from a provider that answers 502', async () => {
    const attemptOf = async (script: Script) => (await ask('up', { script })).lines.at(-1)?.attempt_log;
    expect(await attemptOf([reset()])).toMatchObject([{ status: null, errno: 'ECONNRESET' }]);
    expect(await attemptOf(reply(502, failure('bad_gateway')))).toMatchObject([
      { status: 502, errno: null, upstream_code: 'bad_gateway' },
    ]);
  });

  it('has the whole time of a stream that breaks off, and its error', async () => {
    const { lines } = await ask('up', {
      stream: true,
      script: [head(200, SSE), write(BEGUN()), stall(400), reset()],
    });
    const [attempt] = (lines.at(-1)?.attempt_log ?? []) as Record<string, unknown>[];
    expect(attempt).toMatchObject({ status: 200, error_kind: 'upstream-unavailable', errno: 'ECONNRESET' });
    expect(attempt?.duration_ms).toBeGreaterThanOrEqual(390);
  });
});

function BEGUN(): string {
  const delta = { role: 'assistant', content: 'Hel' };
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta }] })}\n\n`;
}

it('an attempt that a fallback rescues is one line of information', async () => {
  const said = `the queue of ${PROVIDER_KEY} is full`;
  const { status, lines } = await ask('rescued', {
    script: reply(503, failure('over_capacity', said)),
    provider: { order: ['up', 'good'] },
  });
  expect(status).toBe(200);
  expect(lines.filter(({ message }) => message !== 'generation')).toEqual([
    expect.objectContaining({
      level: 'info',
      message: 'attempt rescued',
      endpoint: 'up/main',
      status: 503,
      upstream_code: 'over_capacity',
      error_kind: 'overloaded',
      duration_ms: expect.any(Number),
      rescued_by: 'good/main',
      provider_message: 'the queue of [redacted] is full',
    }),
  ]);
  const id = lines.at(-1)?.id;
  await vi.waitUntil(
    async () => (await gateway.fetch(`/generation?id=${id}`, { key: gateway.managementKey })).ok,
    { timeout: 30_000, interval: 100 },
  );
  const record = await gateway.fetch(`/generation?id=${id}`, { key: gateway.managementKey });
  const { data } = (await record.json()) as { data: { provider_responses: object[] } };
  expect(data.provider_responses).toEqual([
    expect.objectContaining({ status: 503, provider_message: 'the queue of [redacted] is full' }),
    expect.not.objectContaining({ provider_message: expect.anything() }),
  ]);
});

it('what only the caller can mend is no warning, and does not repeat the words of the upstream', async () => {
  const { status, lines } = await ask('up', {
    script: reply(400, failure('context_length_exceeded', `too long: ${PROMPT}`)),
  });
  expect(status).toBe(400);
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'info',
      message: 'generation refused',
      error_kind: 'context-length',
      upstream_status: 400,
      upstream_code: 'context_length_exceeded',
      reason: 'Invalid request parameters: the prompt is too long for the model',
    }),
  ]);
  const unknown = await ask('unknown-model');
  expect(unknown.lines.every(({ level }) => level === 'info')).toBe(true);
});

it.each([
  [400, 'info', 'generation refused', 'Invalid request parameters: the provider rejected the request'],
  [404, 'warn', 'generation failed', 'Resource not found: the provider does not know the model or the path'],
])('an upstream that answers %i is named with its code and in our words only', async (code, ...expected) => {
  const [level, message, reason] = expected;
  const { status, lines } = await ask('up', { script: reply(code, failure('no_such', `no ${PROMPT}`)) });
  expect(status).toBe(code);
  expect(lines).toEqual([
    expect.objectContaining({ level, message, reason, upstream_status: code, upstream_code: 'no_such' }),
  ]);
  expect(JSON.stringify(lines)).not.toContain(PROMPT);
});

it('a cool-down has a line at its beginning and one at its end, with the cause', async () => {
  const before = gateway.logText().length;
  for (let call = 0; call < 3; call++) await ask('ill', { script: reply(500, failure('broken')) });
  const begun = linesSince(before).filter(({ message }) => message === 'endpoint cools down');
  expect(begun).toEqual([
    expect.objectContaining({
      level: 'warn',
      model: 'm/ill',
      endpoint: 'ill/main',
      error_kind: 'upstream-unavailable',
      upstream_status: 500,
      upstream_code: 'broken',
      failures_in_a_row: 3,
      cooldown_ms: expect.any(Number),
    }),
  ]);
  await expect
    .poll(async () => (await ask('ill', { script: chatAnswer({ text: 'well' }) })).status)
    .toBe(200);
  const ended = linesSince(before).filter(({ message }) => message === 'endpoint is back in service');
  expect(ended).toEqual([
    expect.objectContaining({ level: 'info', endpoint: 'ill/main', upstream_code: 'broken' }),
  ]);
});

it('a rate limit with a time has one line', async () => {
  const script: Script = reply(429, failure('slow_down'), {
    'content-type': 'application/json',
    'retry-after': '1',
  });
  const { lines } = await ask('up', { script });
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: 'info',
      message: 'endpoint paused by a rate limit of its provider',
      endpoint: 'up/main',
      pause_ms: 1000,
    }),
  );
});

it('a configuration that cannot be read keeps the running one and says why', async () => {
  const text = readFileSync(gateway.configFile, 'utf8');
  writeFileSync(gateway.configFile, `${text}\nservr: {}\n`);
  await expect
    .poll(() => gateway.logged('the configuration was not reloaded; the running one stays'))
    .toContainEqual(expect.objectContaining({ level: 'error', reason: expect.stringContaining('servr') }));
  writeFileSync(gateway.configFile, text);
});

it('no line holds a credential, what a caller says, or a stack', () => {
  const text = gateway.logText();
  for (const secret of [PROVIDER_KEY, PROMPT, gateway.apiKey, gateway.managementKey]) {
    expect(text).not.toContain(secret);
  }
  expect(text).not.toContain('"stack"');
});
