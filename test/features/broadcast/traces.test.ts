import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generationSpans } from '../../../src/broadcast/spans/generation-spans.ts';
import { traceIdOf } from '../../../src/ir/trace.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { followedGeneration } from '../../kit/builders/followed.ts';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { reply } from '../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import { openToolGateway, type ToolGateway } from '../tools/tool-gateway.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const traceparent = `00-${TRACE}-${PARENT}-01`;
const TOLD = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0([01])$/;

/** A service that runs commands, which keeps the headers of its requests. */
let sandbox: Server;
const ofSandbox: IncomingHttpHeaders[] = [];
let docs: FakeMcpServer;
let told: ToolGateway;
let silent: ToolGateway;

beforeAll(async () => {
  sandbox = createServer((request, response) => {
    ofSandbox.push(request.headers);
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ exit_code: 0, stdout: 'ran', stderr: '' }));
    });
  });
  await new Promise<void>((resolve) => sandbox.listen(0, '127.0.0.1', resolve));
  docs = await openMcpServer({ tools: () => ({ tools: [tool('search')], ttlMs: 0 }) });
  const tools = {
    sandbox: { url: `http://127.0.0.1:${(sandbox.address() as AddressInfo).port}` },
    mcp_servers: { docs: { url: docs.url } },
  };
  told = await openToolGateway({
    tools,
    observability: {
      propagate_trace: true,
      trace_url: 'https://traces.example/trace/{trace_id}?span={span_id}&of={generation_id}',
    },
  });
  silent = await openToolGateway({ tools });
});

afterAll(async () => {
  await told.close();
  await silent.close();
  await docs.close();
  await new Promise((resolve) => sandbox.close(resolve));
});

beforeEach(() => {
  told.upstream.clear();
  silent.upstream.clear();
  docs.messages.length = 0;
  ofSandbox.length = 0;
});

const QUESTION = { model: 'm/chat', messages: [{ role: 'user', content: 'What is it?' }] };

/** Asks, and reads the record of the generation. */
async function recordOf(
  { gateway }: ToolGateway,
  body: JsonObject,
  headers: Record<string, string> = {},
  path = '/chat/completions',
): Promise<any> {
  const response = await gateway.post(path, body, headers);
  const id = response.headers.get('x-signalbox-generation-id') ?? response.headers.get('x-generation-id');
  const text = await response.text();
  const found = id ?? /gen-[\w-]+/.exec(text)?.[0];
  const record = await gateway.fetch(`/generation?id=${found}`);
  expect(record.status, text).toBe(200);
  return ((await record.json()) as { data: any }).data;
}

const toldIn = (headers: IncomingHttpHeaders | undefined) => {
  const [, traceId, spanId, flag] = TOLD.exec(String(headers?.traceparent)) ?? [];
  return { traceId, spanId, flag };
};

describe('the trace of a request', () => {
  it('goes on to each upstream that is called, with a span of its own', async () => {
    told.upstream.answer(reply(503, { error: { message: 'away' } }));
    told.upstream.answer(chatAnswer({ text: 'Hi' }));
    const body = { ...QUESTION, models: ['m/chat', 'm/other'] };
    const record = await recordOf(told, body, { traceparent, tracestate: 'rojo=1' });
    const sent = told.upstream.requests.map(({ headers }) => toldIn(headers));
    expect(sent.map(({ traceId, flag }) => [traceId, flag])).toEqual([
      [TRACE, '1'],
      [TRACE, '1'],
    ]);
    expect(told.upstream.requests[0]?.headers.tracestate).toBe('rojo=1');
    expect(new Set([PARENT, ...sent.map(({ spanId }) => spanId)]).size).toBe(3);
    expect(record.provider_responses.map((call: any) => call.span_id)).toEqual(
      sent.map(({ spanId }) => spanId),
    );
    const followed = followedGeneration({ ...record, traceparent }, undefined, { id: record.id });
    const [root, ...attempts] = generationSpans(followed, {
      privacyMode: false,
      sendsCost: false,
      sendsIdentity: false,
      sendsRequestContext: false,
    });
    expect(root).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
    expect(attempts.map(({ spanId }) => spanId)).toEqual(sent.map(({ spanId }) => spanId));
  });

  it.each<[string, JsonObject, Record<string, string>, string | undefined]>([
    ['the body, which wins', { trace: { trace_id: 'workflow 7' } }, { traceparent }, traceIdOf('workflow 7')],
    ['nothing', {}, {}, undefined],
    ['a header that is not valid', {}, { traceparent: 'nonsense', tracestate: 'rojo=1' }, undefined],
  ])('is named by %s', async (_, more, headers, traceId) => {
    told.upstream.answer(chatAnswer({ text: 'Hi' }));
    await recordOf(told, { ...QUESTION, ...more }, headers);
    const [request] = told.upstream.requests;
    expect(toldIn(request?.headers).traceId).toMatch(traceId ?? /^[0-9a-f]{32}$/);
    expect(toldIn(request?.headers).spanId).not.toBe(PARENT);
    expect(request?.headers.tracestate).toBeUndefined();
  });

  it('goes on to services of tools and to MCP servers, with the spans of the calls', async () => {
    const call = (id: string, name: string, given: object) => ({
      id,
      name,
      arguments: JSON.stringify(given),
    });
    told.answers(
      'm/chat',
      { tools: [call('a', 'shell', { commands: ['ls'] }), call('b', 'docs__search', { text: 'x' })] },
      { text: 'Done.' },
    );
    const body = {
      model: 'm/chat',
      input: 'Look it up.',
      tools: [{ type: 'signalbox:shell' }, { type: 'mcp', server_label: 'docs', require_approval: 'never' }],
    };
    const record = await recordOf(told, body, { traceparent }, '/responses');
    const [shell, search] = record.tool_calls;
    expect(record.tool_calls.map(({ name, outcome }: any) => [name, outcome])).toEqual([
      ['shell', 'ok'],
      ['docs__search', 'ok'],
    ]);
    expect(toldIn(ofSandbox[0])).toEqual({ traceId: TRACE, spanId: shell.span_id, flag: '1' });
    const called = docs.messages.find(({ method }) => method === 'tools/call');
    expect(toldIn(called?.headers)).toEqual({ traceId: TRACE, spanId: search.span_id, flag: '1' });
    expect(told.upstream.requests.map(({ headers }) => toldIn(headers).traceId)).toEqual([TRACE, TRACE]);
  });

  it('goes nowhere unless the operator says so', async () => {
    silent.upstream.answer(chatAnswer({ text: 'Hi' }));
    const record = await recordOf(silent, QUESTION, { traceparent });
    expect(silent.upstream.requests[0]?.headers.traceparent).toBeUndefined();
    expect(record.provider_responses[0]).not.toHaveProperty('span_id');
  });
});

describe('the log of generations', () => {
  const rowsOf = async (gateway: ToolGateway['gateway'], query: string): Promise<any[]> => {
    const response = await gateway.fetch(`/generations?${query}`);
    expect(response.status).toBe(200);
    return ((await response.json()) as { data: any[] }).data;
  };

  it('finds the generations of a trace, whoever named it', async () => {
    const own = await (async () => {
      told.upstream.answer(chatAnswer({ text: 'Hi' }));
      return recordOf(told, QUESTION);
    })();
    const traceId = 'ab'.repeat(16);
    told.upstream.answer(chatAnswer({ text: 'Hi' }));
    const ofHeader = await recordOf(told, QUESTION, { traceparent: `00-${traceId}-${PARENT}-01` });
    told.upstream.answer(chatAnswer({ text: 'Hi' }));
    const ofBody = await recordOf(told, { ...QUESTION, trace: { trace_id: 'workflow of the log' } });
    expect(ofHeader.trace_id).toBe(traceId);
    expect(ofBody.trace_id).toBe(traceIdOf('workflow of the log'));
    expect(toldIn(told.upstream.requests[0]?.headers).traceId).toBe(own.trace_id);
    const found: [string, any][] = [
      [`trace_id=${own.trace_id}`, own],
      [`trace_id=${traceId}`, ofHeader],
      ['trace_id=workflow%20of%20the%20log', ofBody],
      [`search=${ofBody.trace_id}`, ofBody],
      [`search=${own.trace_id}`, own],
      [`trace_id=${own.trace_id}&from=2026-01-01`, own],
    ];
    for (const [query, record] of found) {
      // Rows come a moment after the answer.
      await expect
        .poll(async () => (await rowsOf(told.gateway, query)).map(({ id }) => id))
        .toEqual([record.id]);
      const [row] = await rowsOf(told.gateway, query);
      expect(row.trace_id).toBe(record.trace_id);
    }
    expect(await rowsOf(told.gateway, 'trace_id=of-nobody')).toEqual([]);
    const counts = await told.gateway.fetch(`/generations/counts?trace_id=${traceId}&within_ms=5000`);
    expect(((await counts.json()) as any).data.total).toBe(1);
  });

  it('links a generation to its trace if the operator says where traces are', async () => {
    told.upstream.answer(chatAnswer({ text: 'Hi' }));
    const record = await recordOf(told, QUESTION);
    const [root] = generationSpans(followedGeneration({ ...record }, undefined, { id: record.id }), {
      privacyMode: true,
      sendsCost: false,
      sendsIdentity: false,
      sendsRequestContext: false,
    });
    expect(record.trace_url).toBe(
      `https://traces.example/trace/${record.trace_id}?span=${root?.spanId}&of=${record.id}`,
    );
    expect(record.trace_id).toBe(root?.traceId);
    silent.upstream.answer(chatAnswer({ text: 'Hi' }));
    expect((await recordOf(silent, QUESTION)).trace_url).toBeNull();
  });
});
