import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { streamText } from 'ai';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../ir/errors.ts';
import { type Event, type Finish, type Settled, terminalOf } from '../../ir/events.ts';
import { fold } from '../../ir/folding/fold.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import type { Frame } from '../../kit/frames/frames.ts';
import { SseReader } from '../../kit/frames/sse.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { ReplyContext } from '../dialect.ts';
import { unwrapSeal } from '../shared/reasoning/custody.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { createEncoder } from './encode.ts';
import { encodeBody } from './encode-body.ts';
import { parseRequest } from './parse.ts';

const request = parseRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }, { vendor: 'acme' });

const CONTEXT: ReplyContext = {
  vendor: 'acme',
  request,
  generationId: 'gen-1700000000-Abc123',
  createdAtMs: 0,
  now: () => 0,
  model: 'acme/large',
  provider: 'Acme',
  serviceTier: 'default',
};

const SETTLED: Settled = {
  usage: {
    ...NO_USAGE,
    inputTokens: 12,
    cachedTokens: 5,
    cacheWriteTokens: 2,
    outputTokens: 7,
    reasoningTokens: 3,
    source: 'measured',
  },
  bill: { totalNanos: 1_500n, inputNanos: 1_000n, outputNanos: 500n, isByok: false },
  metadata: {
    requested: 'm',
    strategy: 'direct',
    region: null,
    summary: 'available=1, selected=Acme',
    attempt: 1,
    is_byok: false,
    endpoints: { total: 1, available: [] },
  },
};

const FINAL_USAGE = {
  input_tokens: 5,
  output_tokens: 7,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 0 },
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 5,
  output_tokens_details: { thinking_tokens: 3 },
  server_tool_use: null,
  service_tier: 'standard',
  cost: 0.0000015,
  is_byok: false,
  cost_details: {
    upstream_inference_cost: null,
    upstream_inference_prompt_cost: 0.000001,
    upstream_inference_completions_cost: 5e-7,
  },
};

function finish(change: Partial<Finish> = {}): Finish {
  return { type: 'finish', reason: 'stop', settled: SETTLED, ...change };
}

function written(text: string): Frame[] {
  const reader = new SseReader();
  return [...reader.push(Buffer.from(text)), ...reader.end()];
}

function encode(events: readonly Event[]): JsonObject[] {
  const frames = written(createEncoder(CONTEXT).encode(events));
  for (const frame of frames) expect(JSON.parse(frame.data).type).toBe(frame.event);
  return frames.map((frame) => JSON.parse(frame.data) as JsonObject);
}

function textItem(item: number, text: string): Event[] {
  return [
    { type: 'item-start', item, head: { type: 'message' } },
    { type: 'part-start', item, part: 0, kind: 'text' },
    { type: 'text-delta', item, part: 0, kind: 'text', text },
    { type: 'part-end', item, part: 0, kind: 'text' },
    { type: 'item-end', item, status: 'completed' },
  ];
}

function call(item: number): Event {
  return {
    type: 'item-start',
    item,
    head: { type: 'tool-call', kind: 'function', callId: `call_${item}`, name: 'weather' },
  };
}

describe('writing a messages stream', () => {
  it('writes every field of every event in order', () => {
    expect(encode([{ type: 'start', upstreamId: 'x' }, ...textItem(0, 'Hello'), finish()])).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'msg_Abc123',
          model: 'acme/large',
          provider: 'Acme',
          type: 'message',
          role: 'assistant',
          content: [],
          container: null,
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          usage: expect.objectContaining({
            input_tokens: 0,
            output_tokens: 0,
            cache_creation_input_tokens: 0,
          }),
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
        usage: FINAL_USAGE,
      },
      { type: 'message_stop', acme_metadata: SETTLED.metadata },
    ]);
  });

  it('never lets blocks overlap, even when calls are interleaved', () => {
    const events = encode([
      { type: 'start' },
      call(0),
      call(1),
      call(2),
      { type: 'tool-input-delta', item: 1, text: '{"b":1}' },
      { type: 'item-end', item: 1 },
      { type: 'tool-input-delta', item: 0, text: '{"a":1}' },
      { type: 'item-end', item: 0 },
      { type: 'tool-input-delta', item: 2, text: '{}' },
      finish({ reason: 'stop' }),
    ]);
    const blocks = events.filter((event) => String(event.type).startsWith('content_block'));
    expect(blocks.map((event) => `${event.type} ${event.index}`)).toEqual([
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_delta 2',
      'content_block_stop 2',
    ]);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
  });

  it.each<[Partial<Finish>, JsonObject]>([
    [{ reason: 'length' }, { stop_reason: 'max_tokens', stop_sequence: null }],
    [{ stopSequence: 'END' }, { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    [
      { reason: 'content-filter' },
      { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: null } },
    ],
    [{ reason: 'pause' }, { stop_reason: 'pause_turn' }],
    [{ reason: 'compaction' }, { stop_reason: 'compaction' }],
    [{ reason: 'stop', ext: { messages: { stop_reason: 'novel' } } }, { stop_reason: 'novel' }],
  ])('ends %j as the format says it', (change, delta) => {
    expect(encode([{ type: 'start' }, finish(change)]).at(-2)).toMatchObject({ delta });
  });

  it('writes a refusal as text and as the reason', () => {
    const events = encode([
      { type: 'start' },
      { type: 'item-start', item: 0, head: { type: 'message' } },
      { type: 'text-delta', item: 0, part: 0, kind: 'refusal', text: 'I cannot.' },
      finish(),
    ]);
    expect(events).toContainEqual({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'I cannot.' },
    });
    expect(events.at(-2)).toMatchObject({
      delta: {
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', category: null, explanation: 'I cannot.' },
      },
    });
  });

  it('wraps the seals of other families', () => {
    const seal = { encrypted: 'xyz', format: 'openai-responses-v1' };
    const events = encode([
      { type: 'start' },
      { type: 'item-start', item: 0, head: { type: 'reasoning', id: 'rs_1' } },
      { type: 'text-delta', item: 0, part: 0, kind: 'summary', text: 'a' },
      { type: 'text-delta', item: 0, part: 1, kind: 'summary', text: 'b' },
      { type: 'seal', item: 0, seal },
      { type: 'item-end', item: 0 },
      { type: 'item-start', item: 1, head: { type: 'reasoning', id: 'rs_2' } },
      { type: 'seal', item: 1, seal },
      { type: 'item-end', item: 1 },
      finish(),
    ]);
    const deltas = events
      .map((event) => (event.delta ?? {}) as JsonObject)
      .filter((delta) => delta.type !== undefined);
    expect(deltas.slice(0, 2)).toEqual([
      { type: 'thinking_delta', thinking: 'a' },
      { type: 'thinking_delta', thinking: '\n\nb' },
    ]);
    expect(unwrapSeal(String(deltas[2]?.signature))).toEqual({ id: 'rs_1', ...seal });
    const [redacted] = events
      .map((event) => (event.content_block ?? {}) as JsonObject)
      .filter((block) => block.type === 'redacted_thinking');
    expect(unwrapSeal(String(redacted?.data))).toEqual({ id: 'rs_2', ...seal });
  });

  it('names the tool of a call as the caller does', () => {
    const head = { type: 'tool-call', kind: 'function', callId: 'c' } as const;
    const blocks = encode([
      { type: 'start' },
      { type: 'item-start', item: 0, head: { ...head, name: 'a.b c' } },
      { type: 'item-end', item: 0 },
      { type: 'item-start', item: 1, head: { ...head, name: 'read', namespace: 'files' } },
      { type: 'item-end', item: 1 },
      finish(),
    ]).flatMap((event) => (event.type === 'content_block_start' ? [event.content_block] : []));
    expect(blocks).toMatchObject([{ name: 'a.b c' }, { name: 'files__read' }]);
  });

  it('keeps hostile text inside its event', () => {
    const hostile = 'a\n\ndata: {"type":"message_stop"}\n\nevent: error\r\r\u2028\u0000';
    const events = encode([{ type: 'start' }, ...textItem(0, hostile), finish()]);
    expect(events).toHaveLength(7);
    expect(events[3]).toMatchObject({ delta: { text: hostile } });
  });

  it('writes a failure as an error event, also before anything else', () => {
    const error = new GatewayError('upstream-overloaded', 'busy', { metadata: { provider_name: 'Acme' } });
    const expected = {
      type: 'error',
      error: {
        type: 'overloaded_error',
        code: 529,
        message: 'busy',
        metadata: { provider_name: 'Acme', error_type: 'provider_overloaded' },
        error_type: 'provider_overloaded',
      },
      request_id: 'gen-1700000000-Abc123',
    };
    expect(encode([{ type: 'failure', error }])).toEqual([expected]);
    const late = encode([{ type: 'start' }, call(0), { type: 'failure', error, settled: SETTLED }, finish()]);
    expect(late.at(-1)).toEqual({ ...expected, acme_metadata: SETTLED.metadata });
  });

  it('keeps the stream alive with comments, then with pings, then not at all', () => {
    const encoder = createEncoder(CONTEXT);
    expect(encoder.keepAlive()).toBe(': ACME PROCESSING\n');
    encoder.encode([{ type: 'start' }]);
    expect(encoder.keepAlive()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
    encoder.encode([finish()]);
    expect(encoder.keepAlive()).toBe('');
    expect(encoder.encode(textItem(0, 'x'))).toBe('');
  });
});

describe('relaying a messages stream', () => {
  function relay(values: readonly JsonObject[], terminal: Event): JsonObject[] {
    const decoder = createDecoder({ request, relay: true });
    const events = values.flatMap((value) => decoder.decode({ data: JSON.stringify(value, null, 1) }));
    return encode([...events, terminal]);
  }

  const UPSTREAM: JsonObject[] = [
    {
      type: 'message_start',
      message: {
        id: 'msg_theirs',
        model: 'large-v1',
        role: 'assistant',
        content: [],
        novel: 1,
        usage: { input_tokens: 9, output_tokens: 4 },
      },
    },
    { type: 'message_start', message: { id: 'msg_again' } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', name: 'weather' } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{}' },
      novel: 2,
    },
    { type: 'novel_event', x: 1 },
    { type: 'bad\nname', x: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9, novel: 3 } },
    { type: 'message_stop', novel: 4 },
  ];

  it("writes the upstream's frames with the gateway's identity, usage and metadata", () => {
    expect(relay(UPSTREAM, finish({ reason: 'tool-calls' }))).toEqual([
      {
        type: 'message_start',
        message: expect.objectContaining({
          id: 'msg_Abc123',
          model: 'acme/large',
          provider: 'Acme',
          type: 'message',
          novel: 1,
          stop_details: null,
          usage: expect.objectContaining({ input_tokens: 9, output_tokens: 0, cache_read_input_tokens: 0 }),
        }),
      },
      { type: 'ping' },
      {
        type: 'content_block_start',
        index: 0,
        content_block: {
          type: 'tool_use',
          name: 'weather',
          input: {},
          caller: { type: 'direct' },
          id: 'toolu_turn1_0',
        },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{}' },
        novel: 2,
      },
      { type: 'novel_event', x: 1 },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container: null },
        usage: { ...FINAL_USAGE, novel: 3 },
      },
      { type: 'message_stop', novel: 4, acme_metadata: SETTLED.metadata },
    ]);
  });

  it('pings once after the start, and then as the upstream does', () => {
    const ping = { type: 'ping' };
    const [start, , ...rest] = UPSTREAM as [JsonObject, ...JsonObject[]];
    const pinged = (values: JsonObject[]) => relay(values, finish()).map(({ type }) => type);
    const plain = pinged([start, ...rest]);
    expect(plain.slice(0, 3)).toEqual(['message_start', 'ping', 'content_block_start']);
    expect(pinged([ping, start, ping, ...rest])).toEqual(plain);
    expect(pinged([start, ...rest.slice(0, 1), ping, ...rest.slice(1)])).toEqual([
      ...plain.slice(0, 3),
      'ping',
      ...plain.slice(3),
    ]);
  });

  it.each<[JsonObject, JsonObject]>([
    [
      { stop_reason: 'refusal' },
      { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: null } },
    ],
    [
      { stop_reason: 'refusal', stop_details: null },
      { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: null } },
    ],
    [
      { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'bio', novel: 1 } },
      { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'bio', novel: 1 } },
    ],
    [{ stop_reason: 'novel' }, { stop_reason: 'novel', stop_details: null }],
    [{ stop_reason: null }, { stop_reason: 'tool_use', stop_details: null }],
  ])('says the same of the end %j in streams and in whole bodies', (written, expected) => {
    const content = [{ type: 'tool_use', id: 't', name: 'weather', input: {} }];
    const [content_block = {}] = content;
    const values: JsonObject[] = [
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: written },
      { type: 'message_stop' },
    ];
    const decoder = createDecoder({ request, relay: true });
    const events = values.flatMap((value) => decoder.decode({ data: JSON.stringify(value) }));
    const streamed = encode([...events, ...events.flatMap((event) => terminalOf(event) ?? [])]).at(-2);
    const body = encodeBody(fold(decodeBody({ content, ...written }, { request, relay: true })), CONTEXT);
    const whole = { stop_sequence: null, container: null, ...expected };
    expect(streamed?.delta).toEqual(whole);
    expect(body).toMatchObject(whole);
  });

  it('shows images as text, in streams and in whole bodies', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    const text = '![image](data:image/png;base64,iVBORw0KGgo=)';
    const content_block = { type: 'image', source };
    const events = relay(
      [
        { type: 'message_start', message: {} },
        { type: 'content_block_start', index: 0, content_block },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
        { type: 'message_stop' },
      ],
      finish(),
    );
    expect(events.slice(2, 5)).toEqual([
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
    ]);
    const relayed = decodeBody(
      { content: [content_block], stop_reason: 'end_turn' },
      { request, relay: true },
    );
    expect(encodeBody(fold(relayed), CONTEXT).content).toEqual([{ type: 'text', text, citations: [] }]);
  });

  it("ends with the gateway's failure when there is one", () => {
    const failure: Event = { type: 'failure', error: new GatewayError('upstream-timeout', 'slow') };
    const events = relay(UPSTREAM.slice(0, 4), failure);
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'timeout_error', code: 524 } });
    expect(events.filter((event) => event.type === 'message_stop')).toEqual([]);
  });

  it.each([
    '{"type":"content_block_start","index":0,  "content_block":{"type":"text","text":"","citations":[]}}',
    '{"type":"content_block_start","index":0,  "content_block":{"type":"tool_use","id":"a","name":"b","input":{},"caller":{"type":"direct"}}}',
    '{"type":"content_block_delta","index":0,  "delta":{"type":"text_delta","text":"\\u00e9"}}',
  ])('writes a frame that needs no change byte for byte: %s', (data) => {
    const decoder = createDecoder({ request, relay: true });
    const encoder = createEncoder(CONTEXT);
    encoder.encode(decoder.decode({ data: JSON.stringify(UPSTREAM[0]) }));
    const event = (JSON.parse(data) as JsonObject).type;
    if (event === 'content_block_delta') {
      const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
      encoder.encode(decoder.decode({ data: JSON.stringify(block) }));
    }
    expect(encoder.encode(decoder.decode({ data }))).toBe(`event: ${event}\ndata: ${data}\n\n`);
  });

  it('completes blocks and counts that the upstream left incomplete', () => {
    const usage = { input_tokens: 9, output_tokens: 1, server_tool_use: { web_search_requests: 2 } };
    const events = relay(
      [
        { type: 'message_start', message: { usage } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
        { type: 'message_stop' },
      ],
      finish({ ext: { messages: { usage: { server_tool_use: { web_search_requests: 2 } } } } }),
    );
    expect(events[0]).toMatchObject({
      message: { usage: { server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 } } },
    });
    expect(events[2]).toMatchObject({ content_block: { type: 'text', text: '', citations: [] } });
  });
});

describe('writing a whole message', () => {
  it("patches the upstream's own in the relay lane", () => {
    const relayed: JsonObject = {
      id: 'theirs',
      model: 'x',
      content: [{ type: 'novel' }],
      stop_reason: 'end_turn',
      usage: { novel: 1 },
    };
    expect(encodeBody({ items: [], relayed, finish: finish() }, CONTEXT)).toEqual({
      id: 'msg_Abc123',
      type: 'message',
      role: 'assistant',
      model: 'acme/large',
      provider: 'Acme',
      content: [{ type: 'novel' }],
      container: null,
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      usage: { ...FINAL_USAGE, inference_geo: null, novel: 1 },
      acme_metadata: SETTLED.metadata,
    });
  });
});

describe('relaying a whole message', () => {
  it('completes its blocks and counts', () => {
    const relayed: JsonObject = {
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', citations: null },
        { type: 'tool_use', id: 't', name: 'n', input: { a: 1 } },
        { type: 'tool_use', id: 'u', name: 'n', input: {}, caller: { type: 'code_execution_20250825' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 2, server_tool_use: { web_search_requests: 1 } },
    };
    const events = decodeBody(relayed, { request, relay: true });
    expect(encodeBody(fold(events), CONTEXT)).toMatchObject({
      content: [
        { type: 'text', text: 'a', citations: [] },
        { type: 'text', text: 'b', citations: [] },
        { type: 'tool_use', id: 't', input: { a: 1 }, caller: { type: 'direct' } },
        { type: 'tool_use', id: 'u', caller: { type: 'code_execution_20250825' } },
      ],
      usage: { server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 } },
    });
  });
});

describe('official clients', () => {
  const PIXEL = 'iVBORw0KGgo=';
  const ANSWER: Event[] = [
    { type: 'start' },
    { type: 'item-start', item: 0, head: { type: 'reasoning' } },
    { type: 'text-delta', item: 0, part: 0, kind: 'thought', text: 'hm' },
    { type: 'item-end', item: 0 },
    ...textItem(1, 'Hello'),
    { type: 'item-start', item: 2, head: { type: 'image' } },
    { type: 'image-data', item: 2, source: { kind: 'base64', mediaType: 'image/png', data: PIXEL } },
    { type: 'item-end', item: 2 },
    call(3),
    { type: 'tool-input-delta', item: 3, text: '{"city":' },
    { type: 'tool-input-delta', item: 3, text: '"Rome"}' },
    { type: 'item-end', item: 3 },
    finish({ reason: 'tool-calls' }),
  ];

  const serve = async () =>
    new Response(createEncoder(CONTEXT).encode(ANSWER), { headers: { 'content-type': 'text/event-stream' } });

  it('the Anthropic client accumulates the message', async () => {
    const client = new Anthropic({ apiKey: 'k', baseURL: 'http://127.0.0.1:1', fetch: serve, maxRetries: 0 });
    const stream = client.messages.stream({
      model: 'm',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'hi' }],
    });
    const message = await stream.finalMessage();
    expect(message).toMatchObject({
      id: 'msg_Abc123',
      stop_reason: 'tool_use',
      usage: { input_tokens: 5, output_tokens: 7 },
    });
    expect(message.content.map((block) => block.type)).toEqual(['thinking', 'text', 'text', 'tool_use']);
    expect(message.content[2]).toMatchObject({ text: expect.stringContaining(PIXEL) });
    expect(message.content[3]).toMatchObject({ id: 'call_3', name: 'weather', input: { city: 'Rome' } });
  });

  it('the AI SDK accepts the stream', async () => {
    const model = createAnthropic({ apiKey: 'k', baseURL: 'http://127.0.0.1:1', fetch: serve })('m');
    const kinds: string[] = [];
    for await (const part of streamText({ model, prompt: 'hi', maxRetries: 0, maxOutputTokens: 9 })
      .fullStream)
      kinds.push(part.type);
    expect(kinds).not.toContain('error');
    expect(kinds).toEqual(expect.arrayContaining(['reasoning-delta', 'text-delta', 'tool-call', 'finish']));
  });
});
