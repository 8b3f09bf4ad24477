import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { type BroadcastBooks, openBroadcastBooks, QUESTION } from './broadcast-books.ts';

/*
 * What two receivers get by OTLP, one in JSON and one in protobuf, both decoded by the official code, against the
 * books: the records of the generations, and the sums of analytics.
 */

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

let books: BroadcastBooks;
let ask: BroadcastBooks['ask'];
let told: BroadcastBooks['told'];

beforeAll(async () => {
  books = await openBroadcastBooks();
  ({ ask, told } = books);
});

afterAll(() => books.close());

describe('what receivers are told', () => {
  it('of a stream: times, tokens, the place in the trace of the caller', async () => {
    const id = await ask(
      { model: 'm/plain', ...QUESTION, stream: true, user: 'ada', session_id: 's-1' },
      { headers: { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'rojo=1' } },
    );
    const { record, root, attempts } = await told(id);
    expect(root).toMatchObject({
      name: 'chat m/plain',
      traceId: TRACE,
      parentSpanId: PARENT,
      traceState: 'rojo=1',
      status: {},
      attributes: {
        'user.id': 'ada',
        'session.id': 's-1',
        'gen_ai.usage.cache_read.input_tokens': 5,
        'gen_ai.usage.total_tokens': 30,
      },
    });
    expect(root.endMs - root.startMs).toBeGreaterThanOrEqual(record.latency - 1);
    const [{ latency }] = record.provider_responses;
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject({
      status: {},
      attributes: { 'gen_ai.response.time_to_first_chunk': latency / 1000, 'signalbox.leg.number': 1 },
    });
    expect(books.upstream.requests.at(-1)?.headers.traceparent).toBe(`00-${TRACE}-${attempts[0]?.spanId}-01`);
  });

  it.each<[string, string, JsonObject]>([
    ['/chat/completions', 'chat', QUESTION],
    ['/responses', 'responses', { input: 'What is secretly blue?' }],
    ['/messages', 'messages', { ...QUESTION, max_tokens: 9 }],
    ['/embeddings', 'embeddings', { input: 'What is secretly blue?' }],
  ])('of %s: the ids, names and metadata of trace', async (path, format, body) => {
    const isEmbedding = path === '/embeddings';
    const trace = {
      trace_id: `${format} 7`,
      trace_name: 'Checkout',
      span_name: 'Ask',
      generation_name: 'Draft',
      parent_span_id: PARENT,
      feature: 'search',
      half: 'a\ud800b',
    };
    const id = await ask({ model: isEmbedding ? 'm/embeds' : 'm/plain', ...body, trace }, { path });
    const { record, root, attempts } = await told(id);
    expect(record.trace).toEqual(trace);
    expect(root).toMatchObject({
      name: 'Ask',
      parentSpanId: PARENT,
      attributes: {
        'gen_ai.operation.name': isEmbedding ? 'embeddings' : 'chat',
        'signalbox.request.format': format,
        'trace.name': 'Checkout',
        'trace.metadata.feature': 'search',
        'trace.metadata.half': 'a\ufffdb',
      },
    });
    expect(attempts.map(({ name }) => name)).toEqual(['Draft']);
    const list = `/generations?trace_id=${encodeURIComponent(trace.trace_id)}`;
    const found = async () => (await books.management.ask('GET', list)).body.data.map((row: any) => row.id);
    // The list is written a moment after the record.
    await expect.poll(found).toEqual([id]);
  });

  it('of a fallback: both calls, and events for it and for the cool-down', async () => {
    const { root, attempts } = await told(
      await ask({ model: 'm/falls', ...QUESTION, provider: { order: ['of-down'] } }),
    );
    expect(root.events).toEqual([
      {
        name: 'signalbox.fallback',
        attributes: {
          'signalbox.fallback.from': 'of-down',
          'signalbox.fallback.to': 'of-other',
          'http.response.status_code': 503,
          'signalbox.leg.number': 1,
        },
      },
    ]);
    const [failed, served] = attempts;
    expect(failed).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': '503' } });
    expect(failed?.events).toMatchObject([{ name: 'signalbox.cooldown' }]);
    expect(failed?.events[0]?.attributes['signalbox.cooldown_ms']).toBeGreaterThan(1_000);
    expect(served).toMatchObject({ status: {}, events: [] });
    expect(served?.startMs).toBeGreaterThanOrEqual(failed?.endMs ?? Number.POSITIVE_INFINITY);
  });

  it('of an answer that was none: an error of that call alone', async () => {
    const { root, attempts } = await told(
      await ask({ model: 'm/skips', ...QUESTION, provider: { order: ['of-empty'] } }),
    );
    expect(root.status).toEqual({});
    expect(attempts.map(({ status, attributes }) => [status.code, attributes['error.type']])).toEqual([
      [2, '_OTHER'],
      [undefined, undefined],
    ]);
  });

  it('of a stream that broke off: an error, and what was used', async () => {
    const { record, root, attempts } = await told(
      await ask({ model: 'm/breaks', ...QUESTION, stream: true }),
    );
    expect(root).toMatchObject({
      status: { code: 2, message: `${record.error.type} (${record.error.status})` },
      attributes: { 'error.type': record.error.type },
    });
    expect(attempts).toMatchObject([
      {
        status: { code: 2 },
        attributes: { 'error.type': record.error.type, 'http.response.status_code': 200 },
      },
    ]);
  });

  it('of an upstream that gave no answer: an error, and no status', async () => {
    const { record, attempts } = await told(await ask({ model: 'm/closes', ...QUESTION }));
    // It is asked once more if few other requests were.
    for (const response of record.provider_responses) {
      expect(response).toMatchObject({ status: 502, unanswered: true });
    }
    for (const { status } of attempts) expect(status).toEqual({ code: 2, message: 'no answer' });
    expect(attempts.at(-1)?.attributes['error.type']).toBe(record.error.type);
  });

  it('of a caller who left: no error, and what was used', async () => {
    const asked = { model: 'm/hangs', ...QUESTION, stream: true };
    const { record, root, attempts } = await told(await ask(asked, { leaves: true }));
    expect(record).toMatchObject({ cancelled: true, finish_reason: null });
    expect(root).toMatchObject({ status: {}, attributes: { 'signalbox.cancelled': true } });
    expect(attempts.map(({ status }) => status)).toEqual([{}]);
  });

  it('of a tool loop: each leg, call of an MCP server and of a model, linked in their order', async () => {
    const asked = {
      model: 'm/tools',
      input: 'Look.',
      tools: [
        { type: 'mcp', server_label: 'docs', require_approval: 'never' },
        { type: 'signalbox:advisor', parameters: { model: 'm/other' } },
      ],
    };
    const { record, root, attempts, others } = await told(await ask(asked, { path: '/responses' }));
    expect(record.legs.map(({ kind }: any) => kind)).toEqual(['main', 'advisor', 'main']);
    const [first, advisor, last] = attempts.map(({ spanId }) => spanId);
    expect(attempts.map(({ links }) => links.map(({ spanId }) => spanId))).toEqual([[], [first], [advisor]]);
    expect(
      attempts.map(({ attributes }) => [
        attributes['signalbox.leg.number'],
        attributes['signalbox.leg.kind'],
        attributes['signalbox.leg.input_tokens'],
      ]),
    ).toEqual(record.legs.map((leg: any, index: number) => [index + 1, leg.kind, leg.tokens_prompt]));
    expect(last).toBe(record.provider_responses[2].span_id);
    const advising = others.find(({ name }) => name === 'execute_tool advisor')?.spanId;
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([root.spanId, advising, root.spanId]);
    expect(record.legs.map(({ tool_call }: any) => tool_call)).toEqual([undefined, 2, undefined]);
    expect(
      others.map(({ name, spanId, startMs, attributes }) => [
        name,
        spanId,
        startMs,
        attributes['signalbox.tool.outcome'],
      ]),
    ).toEqual(
      record.tool_calls.map(({ name, span_id, started_at, outcome }: any) => [
        name === 'advisor' ? 'execute_tool advisor' : 'tools/call search',
        span_id,
        Date.parse(started_at),
        outcome,
      ]),
    );
    const called = books.docs.messages.find(({ method }) => method === 'tools/call');
    const search = others.find(({ name }) => name === 'tools/call search');
    expect(search).toMatchObject({
      kind: 3,
      attributes: { 'signalbox.mcp.server': 'docs', 'mcp.method.name': 'tools/call' },
    });
    expect(called?.headers.traceparent).toContain(search?.spanId);
  });

  it('of fusion: the panel side by side, and the judge after all of it', async () => {
    const id = await ask({ model: 'm/plain', ...QUESTION, plugins: [{ id: 'fusion' }] });
    const { record, attempts, others } = await told(id);
    expect(record.legs.map(({ kind }: any) => kind)).toEqual(['panel', 'panel', 'judge', 'main']);
    const places = attempts.map(({ links }) =>
      links.map((link) => attempts.findIndex(({ spanId }) => spanId === link.spanId)),
    );
    // On a busy machine one member may have ended before the next began.
    expect([[], [0]]).toContainEqual(places[1]);
    expect(places).toEqual([[], places[1], places[1]?.length === 0 ? [0, 1] : [1], [2]]);
    expect(others.map(({ name }) => name)).toEqual(['execute_tool fusion']);
    const inside = attempts.map(({ parentSpanId }) => parentSpanId === others[0]?.spanId);
    expect(inside).toEqual([true, true, true, false]);
  });

  it('of a cached answer: a span alone, that cost nothing', async () => {
    const asked = { model: 'm/plain', messages: [{ role: 'user', content: 'Again?' }] };
    const headers = { 'x-signalbox-cache': 'true' };
    const source = await ask(asked, { headers });
    const { root, attempts, others } = await told(await ask(asked, { headers }));
    expect([...attempts, ...others]).toEqual([]);
    expect(root.attributes).toMatchObject({
      'signalbox.cache.source_generation_id': source,
      'gen_ai.usage.cost': 0,
    });
    expect(root.attributes).not.toHaveProperty(['gen_ai.provider.name']);
  });

  it('of what a guardrail blocked: an error without any words', async () => {
    const sent = { model: 'm/plain', messages: [{ role: 'user', content: 'a forbidden word' }] };
    for (const [asked, direction] of [
      [sent, 'sent'],
      [{ model: 'm/bad', ...QUESTION }, 'received'],
      [{ model: 'm/bad', ...QUESTION, stream: true }, 'received'],
    ] as const) {
      const { root, others } = await told(await ask(asked as JsonObject, { key: books.guardedKey }));
      expect(root.status).toEqual({ code: 2, message: 'permission_denied (403)' });
      expect(others).toMatchObject([
        {
          name: 'guardrail content-filter',
          attributes: { 'signalbox.guardrail.action': 'blocked', 'signalbox.guardrail.direction': direction },
        },
      ]);
      expect(JSON.stringify([root, ...others])).not.toMatch(/forbidden|secretly/);
    }
  });

  it('adds up to what analytics count', async () => {
    const ids = new Set(
      books.json.spans().flatMap(({ attributes: has }) => has['signalbox.generation.id'] ?? []),
    );
    const sums = (name: string) =>
      books.json.spans().reduce((sum, { attributes }) => sum + (attributes[name] ?? 0), 0);
    const counted = async () => {
      const metrics = ['request_count', 'tokens_prompt', 'tokens_completion', 'credits_usage'];
      const { body } = await books.management.ask('POST', '/analytics/query', { metrics });
      return Object.fromEntries(
        Object.entries(body.data.data[0] ?? {}).map(([name, value]) => [name, Number(value).toFixed(9)]),
      );
    };
    await expect.poll(counted).toMatchObject({
      request_count: ids.size.toFixed(9),
      tokens_prompt: sums('gen_ai.usage.input_tokens').toFixed(9),
      tokens_completion: sums('gen_ai.usage.output_tokens').toFixed(9),
      credits_usage: sums('gen_ai.usage.cost').toFixed(9),
    });
  });

  it('has no words in private, no secret anywhere, and nothing that is not of the protocol', async () => {
    await expect.poll(() => books.secluded.spans().length).toBe(books.json.spans().length);
    expect(JSON.stringify(books.secluded.requests)).not.toMatch(/secret|One tw|forbidden/);
    expect(JSON.stringify(books.json.requests)).toMatch(/secretly/);
    for (const { requests, counts } of [books.json, books.protobuf, books.secluded]) {
      expect(counts.faults).toEqual([]);
      const text = JSON.stringify(requests);
      for (const secret of [books.gateway.apiKey, books.gateway.managementKey, books.guardedKey]) {
        expect(text).not.toContain(secret);
      }
    }
  });
});
