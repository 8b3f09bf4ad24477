import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Provider } from '../../../src/catalog/catalog.ts';
import type { Credential } from '../../../src/catalog/providers/credential.ts';
import { dialectOf } from '../../../src/dialects/lane.ts';
import { GatewayError } from '../../../src/ir/errors.ts';
import { type Event, type EventBatch, terminalOf } from '../../../src/ir/events.ts';
import { Places } from '../../../src/ir/places.ts';
import type { GenerationRequest } from '../../../src/ir/request.ts';
import { randomIds } from '../../../src/kit/ids.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { MemoryBudget } from '../../../src/kit/loop/memory-budget.ts';
import { parseEgressRules } from '../../../src/kit/net/egress.ts';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { createNetworkTransport, TRANSPORT_LIMITS } from '../../../src/net/transport/transport.ts';
import type { Transport } from '../../../src/net/transport/transport-call.ts';
import { createAuthorize } from '../../../src/upstream/auth/authorize.ts';
import { createCallUpstream } from '../../../src/upstream/call/call.ts';
import { type UpstreamAnswer, type UpstreamCall, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import {
  compressed,
  end,
  type FakeUpstream,
  flood,
  head,
  JSON_TYPE,
  never,
  openFakeUpstream,
  reply,
  reset,
  SSE,
  stall,
  truncate,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { lineDialect } from './line-dialect.ts';

/** No limit but the one that a test shows may end a call: a busy machine takes many times as long. */
const PATIENT = { connect: 60_000, firstByte: 60_000, idle: 60_000, total: 60_000 };

const CANARY = 'CANARY-7f3a91';

let upstream: FakeUpstream;
let network: Transport;

beforeEach(async () => {
  upstream = await openFakeUpstream();
  network = createNetworkTransport();
});

afterEach(async () => {
  await network.close();
  await upstream.close();
});

function request(more: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'chat',
    formatFacts: lineDialect.facts.request,
    body: {},
    models: ['acme/large'],
    hasFallbackModels: false,
    items: [],
    tools: [],
    sampling: {},
    stream: true,
    echoUpstreamBody: false,
    wishes: { provider: {}, plugins: [] },
    ext: {},
    places: new Places(),
    unknownFields: [],
    ...more,
  };
}

function call(more: Partial<UpstreamCall> = {}, provider: Partial<Provider> = {}): Promise<UpstreamAnswer> {
  return createCallUpstream({
    largeAnswers: new MemoryBudget(() => Number.POSITIVE_INFINITY),
    transports: { network, simulator: network },
    dialects: { chat: lineDialect },
    authorize: createAuthorize({ transport: network, clock: systemClock }),
    clock: systemClock,
    ids: randomIds,
  })({
    request: request(),
    lane: 'translate',
    credential: { kind: 'key', key: CANARY },
    hashUser: (id) => id,
    signal: new AbortController().signal,
    endpoint: {
      provider: {
        slug: 'acme',
        name: 'Acme',
        dialect: 'chat',
        baseUrl: upstream.url,
        headers: {},
        auth: 'bearer',
        dataPolicy: undefined,
        timeouts: PATIENT,
        quirks: {},
        isPublic: false,
        ...provider,
      },
      modelId: 'acme/large',
      upstreamModel: 'large-v1',
      tag: 'acme',
      site: 'site',
      quantization: undefined,
      contextLength: undefined,
      maxOutputTokens: undefined,
      supportedParameters: undefined,
      pricing: {},
    },
    ...more,
  });
}

async function collect(answer: UpstreamAnswer): Promise<EventBatch[]> {
  const batches: EventBatch[] = [];
  for await (const batch of answer.batches) batches.push(batch);
  return batches;
}

async function eventsOf(more: Partial<UpstreamCall> = {}): Promise<Event[]> {
  return (await collect(await call(more))).flat();
}

function textOf(events: readonly Event[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

/** The failure of a call, thrown or as the terminal event. */
async function failureOf(more: Partial<UpstreamCall> = {}): Promise<UpstreamFailure> {
  const events = await eventsOf(more).catch((error: unknown) => error);
  if (!Array.isArray(events)) {
    expect(events).toBeInstanceOf(UpstreamFailure);
    return events as UpstreamFailure;
  }
  const terminals = events.map(terminalOf).filter((event) => event !== undefined);
  expect(terminals).toHaveLength(1);
  const [terminal] = terminals;
  expect(terminal?.type).toBe('failure');
  const error = terminal?.type === 'failure' ? terminal.error : undefined;
  expect(error).toBeInstanceOf(UpstreamFailure);
  return error as UpstreamFailure;
}

const STREAM = 'data: {"text":"Hel"}\n\ndata: {"text":"lo 🙂"}\n\ndata: [DONE]\n\n';

describe('a call', () => {
  it('reports betas as lost on a dialect without betas', async () => {
    upstream.answer([head(200, SSE), write(STREAM), end()]);
    const answer = await call({ betas: 'context-1m-2025-08-07, effort-2025-11-24' });
    expect(answer.report).toContainEqual({
      field: 'anthropic-beta',
      action: 'dropped',
      detail: 'the upstream has no betas: context-1m-2025-08-07, effort-2025-11-24',
    });
    await collect(answer);
    expect(upstream.requests[0]?.headers).not.toHaveProperty('anthropic-beta');
  });

  it('sends the rendered body, the common headers and the credential', async () => {
    upstream.answer([head(200, SSE), write(STREAM), end()]);
    const answer = await call({}, { headers: { 'X-Operator': 'yes', 'x-dialect': 'overridden' } });
    expect(answer.status).toBe(200);
    expect(answer.report).toHaveLength(1);
    expect(textOf((await collect(answer)).flat())).toBe('Hello 🙂');
    const [sent] = upstream.requests;
    expect(sent?.path).toBe('/v1/chat/completions');
    expect(sent?.json).toMatchObject({ model: 'large-v1', lane: 'translate' });
    expect(sent?.headers).toMatchObject({
      authorization: `Bearer ${CANARY}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'x-operator': 'yes',
      'x-dialect': 'overridden',
    });
  });

  it.each([
    ['x-api-key', 'x-api-key', CANARY],
    ['azure', 'api-key', CANARY],
    ['google', 'x-goog-api-key', CANARY],
    ['none', 'x-api-key', undefined],
  ] as const)('authorizes by %s', async (auth, header, value) => {
    upstream.answer([head(200, SSE), write(STREAM), end()]);
    await collect(await call({}, { auth }));
    expect(upstream.requests[0]?.headers[header]).toBe(value);
    expect(upstream.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('renders by lane', async () => {
    upstream.answer([head(200, SSE), write(STREAM), end()]);
    await eventsOf({ lane: 'relay' });
    expect(upstream.requests[0]?.json.lane).toBe('relay');
  });

  it('echoes what it sends only when asked, without secrets', async () => {
    upstream.answer([head(200, SSE), write(STREAM), end()]);
    const echoes: JsonObject[] = [];
    await eventsOf({ onRequest: (sent) => echoes.push(sent) });
    expect(echoes).toEqual([]);
    await eventsOf({ request: request({ echoUpstreamBody: true }), onRequest: (sent) => echoes.push(sent) });
    expect(echoes).toEqual([
      { model: 'large-v1', lane: 'translate', note: 'the key is [redacted]', api_key: '[redacted]' },
    ]);
  });

  it('gives one batch per network chunk and nothing after the terminal event', async () => {
    upstream.answer([
      head(200, SSE),
      write('data: {"text":"a"}\n\ndata: {"text":"b"}\n\n'),
      stall(40),
      write(': comment\n\n'),
      stall(40),
      write('data: {"text":"c"}\n\ndata: [DONE]\n\ndata: {"text":"late"}\n\n'),
      write('more garbage'),
      end(),
    ]);
    const batches = await collect(await call());
    expect(batches.map((batch) => batch.length)).toEqual([2, 2]);
    expect(textOf(batches.flat())).toBe('abc');
  });

  it('keeps the connection when the bytes end after the terminal event', async () => {
    upstream.answer([head(200, SSE), write(STREAM), stall(20), end()]);
    // The bytes end some time after the event: then the next call uses the connection again.
    await vi.waitUntil(async () => {
      const before = upstream.connections;
      await eventsOf();
      return upstream.connections === before;
    }, PATIENT.total);
  });

  it.each([
    ['byte by byte', { split: 'bytes' as const, text: STREAM }],
    ['cut inside a character', { split: [39, 40, 41, 42], text: STREAM }],
    ['CRLF', { split: [], text: STREAM.replaceAll('\n', '\r\n') }],
    ['CR', { split: [], text: STREAM.replaceAll('\n', '\r') }],
    ['a byte order mark', { split: [], text: `\uFEFF${STREAM}` }],
    ['comments', { split: [], text: `: hi\n\n${STREAM.replaceAll('\n\n', '\n\n: ping\n\n')}` }],
    ['no space after data:', { split: [], text: STREAM.replaceAll('data: ', 'data:') }],
    ['garbage between', { split: [], text: STREAM.replace('\n\n', '\n\nnonsense\ndata: {broken\n\n') }],
    ['no last blank line', { split: [], text: STREAM.trimEnd() }],
  ])('reads a stream: %s', async (_, { split, text }) => {
    upstream.answer([head(200, SSE), write(text, split), end()]);
    const events = await eventsOf();
    expect(textOf(events)).toBe('Hello 🙂');
    expect(events.at(-1)?.type).toBe('finish');
  });

  it.each(['gzip', 'br', 'deflate'] as const)('reads a stream in %s', async (coding) => {
    upstream.answer(compressed(coding, STREAM));
    expect(textOf(await eventsOf())).toBe('Hello 🙂');
  });

  it('reads a whole body, also as the answer to a stream request', async () => {
    upstream.answer(reply(200, { text: 'whole' }));
    expect(textOf(await eventsOf({ request: request({ stream: false }) }))).toBe('whole');
    expect(upstream.requests[0]?.headers.accept).toBe('application/json');
    expect(textOf(await eventsOf())).toBe('whole');
  });
});

describe('upstreams that fail', () => {
  it('with a status: its failure, no secret in it', async () => {
    upstream.answer((request) => [
      head(401, JSON_TYPE),
      write(JSON.stringify({ error: { message: `Wrong key: ${request.headers.authorization}` } })),
      end(),
    ]);
    const failure = await failureOf();
    expect(failure.status).toBe(502);
    expect(failure.upstreamStatus).toBe(401);
    expect(JSON.stringify([failure.message, failure.metadata])).not.toContain('CANARY');
    expect(JSON.stringify([failure.message, failure.metadata])).not.toContain('127.0.0.1');
  });

  it('with a rate limit: how long to wait', async () => {
    upstream.answer(reply(429, { error: { message: 'slow' } }, { ...JSON_TYPE, 'retry-after': '7' }));
    expect((await failureOf()).retryAfterSeconds).toBe(7);
  });

  it('with a large page: quickly, without echoing it', async () => {
    upstream.answer([
      head(500, { 'content-type': 'text/html' }),
      write(`<html>${'x'.repeat(1_000_000)}`),
      never(),
    ]);
    const failure = await failureOf();
    expect(failure.status).toBe(502);
    expect(JSON.stringify([failure.message, failure.metadata])).not.toContain('xxx');
    await upstream.requests[0]?.closed;
  });

  it.each([
    ['a page', reply(200, '<html>hello</html>', { 'content-type': 'text/html' })],
    ['invalid JSON', reply(200, '{"text": oops')],
    ['no object', reply(200, '[1,2]')],
    ['an error in a 200', reply(200, { error: { message: `no CANARY-7f3a91` } })],
    ['nothing', reply(200, '')],
    [
      'a claim of gzip',
      [head(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }), write('{"text":"x"}'), end()],
    ],
  ])('with 200 and %s: 502', async (_, script) => {
    upstream.answer(script);
    for (const stream of [true, false]) {
      const failure = await failureOf({ request: request({ stream }) });
      expect(failure.status).toBe(502);
      expect(failure.metadata?.provider_name).toBe('Acme');
      expect(JSON.stringify([failure.message, failure.metadata])).not.toMatch(/CANARY|<html/);
    }
  });

  it.each([
    ['silence', [head(200, SSE), write('data: {"text":"a"}\n\n'), never()], 524],
    ['a reset', [head(200, SSE), write('data: {"text":"a"}\n\n'), stall(20), reset()], 502],
    ['a cut', [head(200, SSE), write('data: {"text":"a"}\n\n'), stall(20), truncate()], 502],
    ['an early end', [head(200, SSE), write('data: {"text":"a"}\n\n'), end()], 502],
    [
      'an error event',
      [head(200, SSE), write('data: {"text":"a"}\n\ndata: {"error":"boom"}\n\n'), never()],
      502,
    ],
  ])('in the middle with %s: what was said, then one failure', async (_, script, status) => {
    upstream.answer(script);
    const timeouts = status === 524 ? { ...PATIENT, idle: 1000 } : PATIENT;
    const events = (await collect(await call({}, { timeouts }))).flat();
    expect(events.map(({ type }) => type)).toEqual(['text-delta', 'failure']);
    const last = events[1];
    expect(last?.type === 'failure' && last.error.status).toBe(status);
    expect(last?.type === 'failure' && last.error.metadata?.provider_name).toBe('Acme');
  });

  it('with an event without end: an error after the cap, in bounded memory', async () => {
    upstream.answer([head(200, SSE), write('data: '), flood('z'.repeat(64 * 1024), 64 * 1024 * 1024), end()]);
    const before = process.memoryUsage().rss;
    const failure = await failureOf();
    expect(failure.message).toContain('an event is larger than 8388608 bytes');
    await upstream.requests[0]?.closed;
    expect(upstream.requests[0]?.writtenBytes).toBeLessThan(32 * 1024 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(96 * 1024 * 1024);
  });

  it('that cannot be reached: 502 and why, no address', async () => {
    const url = upstream.url;
    await upstream.close();
    const failure = await failureOf();
    expect(failure.message).toBe('Provider returned error: connection refused');
    expect(failure.upstreamStatus).toBe(0);
    expect(JSON.stringify(failure.metadata)).not.toContain(new URL(url).port);
    upstream = await openFakeUpstream();
  });
});

describe('ending a call', () => {
  it('by abort before the answer: rejects with the reason', async () => {
    upstream.answer([never()]);
    const aborter = new AbortController();
    const reason = new GatewayError('deadline', 'Operation timed out. Please try again later.');
    const work = call({ signal: aborter.signal }).catch((error: unknown) => error);
    const sent = await upstream.request(0);
    aborter.abort(reason);
    expect(await work).toBe(reason);
    await sent.closed;
  });

  it('by abort in the middle: the reason is the terminal event, the socket closes', async () => {
    upstream.answer([head(200, SSE), write('data: {"text":"a"}\n\n'), never()]);
    const aborter = new AbortController();
    const reason = new GatewayError('deadline', 'Operation timed out. Please try again later.');
    const answer = await call({ signal: aborter.signal });
    setTimeout(() => aborter.abort(reason), 50);
    const events = (await collect(answer)).flat();
    expect(events.at(-1)).toEqual({ type: 'failure', error: reason });
    await upstream.requests[0]?.closed;
  });

  it('by returning early: the socket closes, even while a batch is awaited', async () => {
    upstream.answer([head(200, SSE), write('data: {"text":"a"}\n\n'), never()]);
    const iterator = (await call()).batches[Symbol.asyncIterator]();
    await iterator.next();
    const pending = iterator.next();
    await iterator.return?.();
    await upstream.requests[0]?.closed;
    await pending;
  });

  it('by not pulling: the upstream is blocked, for longer than it may be idle', async () => {
    const event = `data: {"text":"${'w'.repeat(64_000)}"}\n\n`;
    upstream.answer([head(200, SSE), flood(event, 20 * 1024 * 1024), write('data: [DONE]\n\n'), end()]);
    const idle = 1000;
    const answer = await call({}, { timeouts: { ...PATIENT, idle } });
    const iterator = answer.batches[Symbol.asyncIterator]();
    await iterator.next();
    await vi.waitUntil(() => upstream.requests[0]?.isBlocked === true, PATIENT.total);
    await sleep(idle + 200);
    expect(upstream.requests[0]?.isBlocked).toBe(true);
    expect(upstream.requests[0]?.writtenBytes).toBeLessThan(12 * 1024 * 1024);
    let last: Event | undefined;
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
      last = step.value.at(-1);
    }
    expect(last?.type).toBe('finish');
  });
});

describe('dialectOf', () => {
  it('is the provider’s own; for the simulator the caller’s, unless one is set', () => {
    expect(dialectOf({ dialect: 'messages' }, 'chat')).toBe('messages');
    expect(dialectOf({ dialect: 'simulator' }, 'chat')).toBe('chat');
    expect(dialectOf({ dialect: 'simulator', simulatedFormat: 'messages' }, 'chat')).toBe('messages');
  });

  it('that is not built: a failure with the reason', async () => {
    await expect(call({}, { dialect: 'gemini' })).rejects.toThrow(/dialect gemini is not available/);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('a BYOK credential', () => {
  const azure = (address: string): Credential => ({
    kind: 'azure',
    resources: [],
    deployments: [
      { key: CANARY, modelSlug: 'acme/large', model: 'dep', baseUrl: address, query: '?api-version=1' },
    ],
  });
  const OPERATORS = {
    baseUrl: undefined,
    auth: 'azure',
    headers: { 'x-operator': 'a-secret-header' },
  } as const;

  it('may not name an address inside', async () => {
    const credential = azure(upstream.url);
    const failure = await call({ credential, isByok: true }, OPERATORS).catch((error) => error);
    expect(failure).toBeInstanceOf(UpstreamFailure);
    expect(failure.message).toContain('the address is unknown or not one that may be called');
    expect(failure.message).not.toContain('127.0.0.1');
    expect(upstream.requests).toEqual([]);
  });

  it('is sent where the operator allows it, without what the operator sends elsewhere', async () => {
    const open = createNetworkTransport(TRANSPORT_LIMITS, () => parseEgressRules(['127.0.0.1']));
    upstream.answer([head(200, SSE), write('data: [DONE]\n\n'), end()]);
    upstream.answer([head(200, SSE), write('data: [DONE]\n\n'), end()]);
    const [closed, opened] = [network, open];
    network = opened;
    try {
      await collect(await call({ credential: azure(upstream.url), isByok: true }, OPERATORS));
      await collect(await call({ credential: azure(upstream.url) }, OPERATORS));
    } finally {
      network = closed;
      await opened.close();
    }
    const [own, shared] = upstream.requests;
    expect(own?.headers).toMatchObject({ 'api-key': CANARY });
    expect(own?.headers).not.toHaveProperty('x-operator');
    expect(shared?.headers).toMatchObject({ 'x-operator': 'a-secret-header' });
  });

  it('goes to the operator’s address like any other', async () => {
    upstream.answer([head(200, SSE), write('data: [DONE]\n\n'), end()]);
    await collect(await call({ isByok: true }));
    expect(upstream.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${CANARY}` });
  });
});
