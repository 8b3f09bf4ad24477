import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RESPONSE_KEYS } from '../../../test/kit/builders/response-keys.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Event, Finish } from '../../ir/events.ts';
import { fold } from '../../ir/folding/fold.ts';
import type { Annotation } from '../../ir/items.ts';
import type { RoutingMetadata } from '../../ir/metadata.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { SseReader } from '../../kit/frames/sse.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsAt } from '../../kit/json/members.ts';
import type { ReplyContext } from '../dialect.ts';
import { unwrapSeal } from '../shared/reasoning/custody.ts';
import { createDecoder } from './decode.ts';
import { createEncoder } from './encode.ts';
import { encodeBody } from './encode-body.ts';

import { parseRequest } from './parse.ts';

const contextOf = (body: JsonObject = {}): ReplyContext => ({
  vendor: 'acme',
  request: parseRequest({ model: 'm', input: 'hi', stream: true, ...body }, { vendor: 'acme' }),
  generationId: 'gen-1700000000-AbC',
  createdAtMs: 1_700_000_000_500,
  now: () => 1_700_000_007_900,
  model: 'acme/large',
  provider: 'Acme',
  serviceTier: 'default',
});

const usage = { ...NO_USAGE, inputTokens: 10, cachedTokens: 4, outputTokens: 5, reasoningTokens: 1 };
const bill = { totalNanos: 1_500n, inputNanos: 500n, outputNanos: 1_000n, isByok: false };
const finish: Finish = { type: 'finish', reason: 'stop', settled: { usage, bill } };

const part = (item: number, kind: 'text' | 'thought', text: string): Event[] => [
  { type: 'part-start', item, part: 0, kind },
  { type: 'text-delta', item, part: 0, kind, text },
  { type: 'part-end', item, part: 0, kind },
];
const textItem = (item: number, text: string): Event[] => [
  { type: 'item-start', item, head: { type: 'message' } },
  ...part(item, 'text', text),
  { type: 'item-end', item, status: 'completed' },
];
const reasoningItem = (item: number, text: string): Event[] => [
  { type: 'item-start', item, head: { type: 'reasoning' } },
  ...part(item, 'thought', text),
  { type: 'seal', item, seal: { signature: 'SIG', format: 'anthropic-claude-v1' } },
  { type: 'item-end', item, status: 'completed' },
];

function valuesOf(written: string): JsonObject[] {
  return new SseReader()
    .push(Buffer.from(written))
    .filter((frame) => frame.data !== '[DONE]')
    .map((frame) => JSON.parse(frame.data) as JsonObject);
}

function encode(events: readonly Event[], body: JsonObject = {}): JsonObject[] {
  return valuesOf(createEncoder(contextOf(body)).encode(events));
}

const typesOf = (values: readonly JsonObject[]) =>
  values.map((value) => String(value.type).replace('response.', ''));
const lastResponse = (values: readonly JsonObject[]) => objectAt(values.at(-1) ?? {}, 'response') ?? {};

describe('the encoder', () => {
  it('writes a text answer in full', () => {
    const values = encode([{ type: 'start' }, ...textItem(0, 'Hi'), finish]);
    expect(typesOf(values)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    expect(values[4]).toEqual({
      type: 'response.output_text.delta',
      sequence_number: 4,
      item_id: 'msg_AbC_0',
      output_index: 0,
      content_index: 0,
      delta: 'Hi',
      logprobs: [],
    });
    expect(lastResponse(values)).toMatchObject({
      id: 'resp_AbC',
      created_at: 1_700_000_000,
      completed_at: 1_700_000_007,
      model: 'acme/large',
      output: [
        {
          id: 'msg_AbC_0',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 15,
        cost: 0.0000015,
        is_byok: false,
        cost_details: {
          upstream_inference_cost: null,
          upstream_inference_input_cost: 5e-7,
          upstream_inference_output_cost: 0.000001,
        },
      },
    });
  });

  it('has every required key in every snapshot, and numbers where numbers are due', () => {
    const values = encode([{ type: 'start' }, finish]);
    for (const response of values.map((value) => objectAt(value, 'response') ?? {})) {
      expect(Object.keys(response)).toEqual(expect.arrayContaining(RESPONSE_KEYS));
      expect(response).toMatchObject({
        temperature: 1,
        top_p: 1,
        presence_penalty: 0,
        frequency_penalty: 0,
        top_logprobs: 0,
        truncation: 'disabled',
        service_tier: 'default',
        store: false,
        background: false,
        tools: [],
        tool_choice: 'auto',
        parallel_tool_calls: true,
        text: { format: { type: 'text' } },
        metadata: {},
      });
    }
  });

  it('echoes the request’s settings', () => {
    const body = {
      instructions: 'Be brief.',
      temperature: 0.2,
      metadata: { a: 'b' },
      user: 'ann',
      text: { verbosity: 'low' },
      reasoning: { effort: 'low' },
      tools: [{ type: 'function', name: 'f' }],
      prompt: { id: 'p', variables: {} },
    };
    expect(lastResponse(encode([finish], body))).toMatchObject({
      ...body,
      text: { format: { type: 'text' }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: null },
      tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }],
    });
  });

  it('writes calls with their name and successive positions', () => {
    const head = { type: 'tool-call', kind: 'function', callId: 'call_1', name: 'f' } as const;
    const values = encode([
      { type: 'item-start', item: 0, head },
      { type: 'item-start', item: 1, head: { ...head, kind: 'custom', callId: 'call_2', name: 'g' } },
      { type: 'tool-input-delta', item: 1, text: 'free ' },
      { type: 'tool-input-delta', item: 0, text: '{}' },
      { type: 'tool-input-delta', item: 1, text: 'text' },
      { type: 'item-end', item: 0 },
      { type: 'item-end', item: 1 },
      { ...finish, reason: 'tool-calls' },
    ]);
    expect(values).toContainEqual(
      expect.objectContaining({ type: 'response.function_call_arguments.done', name: 'f', arguments: '{}' }),
    );
    expect(values).toContainEqual(
      expect.objectContaining({ type: 'response.custom_tool_call_input.done', input: 'free text' }),
    );
    expect(lastResponse(values)).toMatchObject({
      status: 'completed',
      output: [
        { id: 'fc_AbC_0', call_id: 'call_1' },
        { id: 'ctc_AbC_1', call_id: 'call_2' },
      ],
    });
  });

  it('carries a foreign seal in its own fields and, wrapped, in the one that clients replay', () => {
    const [item] = objectsAt(lastResponse(encode([...reasoningItem(0, 'hm'), finish])), 'output');
    expect(item).toMatchObject({ signature: 'SIG', format: 'anthropic-claude-v1', summary: [] });
    expect(unwrapSeal(String(item?.encrypted_content))).toEqual({
      signature: 'SIG',
      format: 'anthropic-claude-v1',
    });
  });

  it('writes thoughts also as a summary when one was asked for', () => {
    const values = encode([...reasoningItem(0, 'hm'), finish], { reasoning: { summary: 'auto' } });
    expect(typesOf(values)).toEqual(
      expect.arrayContaining([
        'reasoning_text.delta',
        'reasoning_summary_part.added',
        'reasoning_summary_text.delta',
      ]),
    );
    expect(lastResponse(values)).toMatchObject({
      output: [{ content: [{ text: 'hm' }], summary: [{ type: 'summary_text', text: 'hm' }] }],
    });
  });

  it('hides reasoning that the caller does not want', () => {
    const values = encode([...reasoningItem(0, 'secret thought'), finish], { reasoning: { exclude: true } });
    expect(JSON.stringify(values)).not.toContain('secret thought');
    expect(lastResponse(values)).toMatchObject({ output: [{ type: 'reasoning', summary: [] }] });
  });

  it('writes a text for a refusal without one', () => {
    const values = encode([{ ...finish, reason: 'refusal', explanation: 'Not this.' }]);
    expect(typesOf(values)).toContain('refusal.delta');
    expect(lastResponse(values)).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'refusal', refusal: 'Not this.' }] }],
    });
  });

  it('ends short answers as incomplete', () => {
    const last = lastResponse(encode([...textItem(0, 'a'), { ...finish, reason: 'length' }]));
    expect(last).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    const filtered = lastResponse(encode([{ ...finish, reason: 'content-filter' }]));
    expect(filtered.incomplete_details).toEqual({ reason: 'content_filter' });
  });

  it('fails with a whole sequence, with what there was of the answer, and without an error event', () => {
    const error = new GatewayError('rate-limited', 'Slow down');
    const early = encode([{ type: 'failure', error }]);
    expect(typesOf(early)).toEqual(['created', 'in_progress', 'failed']);
    const late = encode([
      { type: 'item-start', item: 0, head: { type: 'message' } },
      { type: 'part-start', item: 0, part: 0, kind: 'text' },
      { type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'half' },
      { type: 'failure', error, settled: { usage, bill } },
    ]);
    expect(lastResponse(late)).toMatchObject({
      status: 'failed',
      error: { code: 'rate_limit_exceeded', message: 'Slow down' },
      error_type: 'rate_limit_exceeded',
      output: [{ status: 'incomplete', content: [{ text: 'half' }] }],
      usage: { output_tokens: 5 },
    });
    expect([...early, ...late].every((value) => !value.error)).toBe(true);
  });

  it('writes the debug event first, under number 0', () => {
    const values = encode([{ type: 'debug', upstreamBody: { model: 'up' } }, { type: 'start' }, finish]);
    expect(values[0]).toEqual({
      type: 'response.debug',
      sequence_number: 0,
      debug: { echo_upstream_body: { model: 'up' } },
    });
    expect(values[1]).toMatchObject({ type: 'response.created', sequence_number: 1 });
  });

  it('shows routing metadata only at the end, under the operator’s name', () => {
    const metadata = { requested: 'm', strategy: 'direct' } as never;
    const values = encode([{ type: 'start' }, { ...finish, settled: { usage, bill, metadata } }]);
    expect(lastResponse(values).acme_metadata).toEqual(metadata);
    expect(values[0]?.response).not.toHaveProperty('acme_metadata');
  });

  it('keeps any text inside its event', () => {
    const text = '\n\ndata: {"type":"response.completed"}\n\n\r\u2028\0';
    const values = encode([...textItem(0, text), finish]);
    expect(values.filter((value) => value.type === 'response.completed')).toHaveLength(1);
    expect(values).toContainEqual(
      expect.objectContaining({ type: 'response.output_text.delta', delta: text }),
    );
  });

  it('makes its own id where the upstream’s could do harm or is taken', () => {
    const start = (item: number, id: string): Event => ({
      type: 'item-start',
      item,
      head: { type: 'message', id },
    });
    const ids = objectsAt(
      lastResponse(encode([start(0, 'msg_x\r\nevent: y'), start(1, 'msg_1'), start(2, 'msg_1'), finish])),
      'output',
    ).map((item) => item.id);
    expect(ids).toEqual(['msg_AbC_0', 'msg_1', 'msg_AbC_2']);
  });

  it('writes nothing after the end', () => {
    const encoder = createEncoder(contextOf());
    expect(encoder.encode([finish])).toMatch(/data: \[DONE\]\n\n$/);
    expect(encoder.encode([...textItem(0, 'late'), finish])).toBe('');
  });

  it('fails with usage and routing context even when no endpoint was reached', () => {
    const routing: RoutingMetadata = {
      requested: 'm',
      strategy: 'direct',
      region: null,
      summary: 'nobody answered',
      attempt: 0,
      is_byok: false,
      endpoints: { total: 0, available: [] },
    };
    const failed = (error: GatewayError) => lastResponse(encode([{ type: 'failure', error }]));
    expect(failed(new GatewayError('overloaded', 'Busy', { routing }))).toMatchObject({
      status: 'failed',
      acme_metadata: routing,
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cost: 0,
        is_byok: false,
        cost_details: {
          upstream_inference_cost: null,
          upstream_inference_input_cost: 0,
          upstream_inference_output_cost: 0,
        },
      },
    });
    expect(failed(new GatewayError('overloaded', 'Busy'))).not.toHaveProperty('acme_metadata');
    expect(failed(new GatewayError('server', 'x', { routing }))).not.toHaveProperty('acme_metadata');
  });

  it('takes a citation without positions to be about the whole part', () => {
    const citation: Annotation = { type: 'url-citation', url: 'https://x.y', title: 'X' };
    const cited = (part: number, before: string, after: string): Event[] => [
      { type: 'part-start', item: 0, part, kind: 'text' },
      { type: 'text-delta', item: 0, part, kind: 'text', text: before },
      { type: 'annotation', item: 0, part, annotation: citation },
      { type: 'text-delta', item: 0, part, kind: 'text', text: after },
      { type: 'part-end', item: 0, part, kind: 'text' },
    ];
    const events: Event[] = [
      { type: 'item-start', item: 0, head: { type: 'message' } },
      ...cited(0, 'Ada', ' L.'),
      ...cited(1, 'Bob', ''),
      { type: 'item-end', item: 0 },
      finish,
    ];
    const values = encode(events);
    const told = values.filter((value) => value.type === 'response.output_text.annotation.added');
    expect(told).toMatchObject([
      { content_index: 0, annotation_index: 0, annotation: { start_index: 0, end_index: 6 } },
      { content_index: 1, annotation_index: 0, annotation: { start_index: 0, end_index: 3 } },
    ]);
    const [message] = objectsAt(lastResponse(values), 'output');
    expect(objectsAt(message, 'content').map((each) => each.annotations)).toEqual(
      told.map(({ annotation }) => [annotation]),
    );
    expect(encodeBody(fold(events), contextOf()).output).toEqual(lastResponse(values).output);
  });

  it('leaves out items of other dialects without a gap', () => {
    const foreign = { type: 'opaque', dialect: 'messages', value: { type: 'server_tool_use' } } as const;
    const values = encode([
      { type: 'item-start', item: 0, head: { type: 'opaque', item: foreign } },
      { type: 'item-end', item: 0 },
      ...textItem(1, 'x'),
      finish,
    ]);
    expect(lastResponse(values).output).toMatchObject([{ id: 'msg_AbC_0' }]);
    expect(values[2]).toMatchObject({ type: 'response.output_item.added', output_index: 0 });
  });

  it('keeps the connection alive with a comment', () => {
    expect(createEncoder(contextOf()).keepAlive()).toBe(': ACME PROCESSING\n');
  });
});

describe('the relay lane', () => {
  const fixture = readFileSync('test/kit/fixtures/responses/changing-ids.sse');

  function relay(ending: (events: readonly Event[]) => Event, body: JsonObject = {}) {
    const context = contextOf(body);
    const decoder = createDecoder({ request: context.request, relay: true });
    const encoder = createEncoder(context);
    const events = new SseReader().push(fixture).flatMap((frame) => decoder.decode(frame));
    const before = encoder.encode(events);
    return { before, values: valuesOf(before + encoder.encode([ending(events)])) };
  }

  const settle = (events: readonly Event[]): Event => ({
    ...finish,
    settled: { usage: fold(events).usage ?? usage, bill },
  });

  it('holds the upstream’s end back until it is settled', () => {
    const { before, values } = relay(settle);
    expect(before).not.toContain('response.completed');
    expect(typesOf(values).filter((type) => type === 'completed')).toHaveLength(1);
  });

  it('keeps ids the same from first to last and adds what strict clients miss', () => {
    const { values } = relay(settle);
    const ids = values.flatMap((value) => objectAt(value, 'item')?.id ?? value.item_id ?? []);
    expect(new Set(ids)).toEqual(new Set(['a-1', 'b-1']));
    expect(values.map((value) => value.sequence_number)).toEqual(values.map((_, index) => index));
    expect(typesOf(values)).toContain('content_part.added');
    expect(values.find((value) => value.type === 'response.output_text.delta')?.logprobs).toEqual([]);
    const added = values.find((value) => objectAt(value, 'item')?.type === 'message');
    expect(objectAt(added ?? {}, 'item')?.content).toEqual([]);
  });

  it('says its own id, model, price and user', () => {
    const { values } = relay(settle, { user: 'ann' });
    expect(lastResponse(values)).toMatchObject({
      id: 'resp_AbC',
      model: 'acme/large',
      user: 'ann',
      parallel_tool_calls: true,
      usage: { input_tokens: 10, output_tokens: 4, cost: 0.0000015 },
      output: [
        { id: 'a-1', encrypted_content: 'c2VhbA==' },
        { id: 'b-1', status: 'completed', content: [{ text: 'Three.', annotations: [], logprobs: [] }] },
      ],
    });
  });

  it('echoes what the caller set, else the defaults, whatever the upstream says', () => {
    const { values } = relay(settle, { presence_penalty: 0.5 });
    for (const value of [values[0], values.at(-1)]) {
      expect(objectAt(value, 'response')).toMatchObject({
        temperature: 1,
        top_p: 1,
        presence_penalty: 0.5,
        frequency_penalty: 0,
        top_logprobs: 0,
        truncation: 'disabled',
      });
    }
  });

  it('writes a citation without positions once, in its part', () => {
    const context = contextOf();
    const decoder = createDecoder({ request: context.request, relay: true });
    const encoder = createEncoder(context);
    const at = { item_id: 'm', output_index: 0, content_index: 0 };
    const frames = [
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', id: 'm', content: [] },
      },
      { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '' } },
      { type: 'response.output_text.delta', ...at, delta: 'Ada' },
      {
        type: 'response.content_part.done',
        ...at,
        part: { type: 'output_text', text: 'Ada', annotations: [{ type: 'url_citation', url: 'https://a' }] },
      },
    ].map((value) => ({ data: JSON.stringify(value) }));
    const values = valuesOf(encoder.encode(frames.flatMap((frame) => decoder.decode(frame))));
    expect(values.slice(-2)).toMatchObject([
      { type: 'response.output_text.annotation.added', annotation: { start_index: 0, end_index: 3 } },
      { type: 'response.content_part.done' },
    ]);
  });

  it('writes frames that need no change verbatim', () => {
    const context = contextOf();
    const encoder = createEncoder(context);
    const decoder = createDecoder({ request: context.request, relay: true });
    const opening = new SseReader().push(fixture).slice(0, 2);
    encoder.encode(opening.flatMap((frame) => decoder.decode(frame)));
    const data =
      '{ "item_id":"a-1", "type":"response.reasoning_summary_part.added", "sequence_number":3, "output_index":0, "summary_index":0, "part":{"type":"summary_text","text":""}, "extra": [1] }';
    expect(encoder.encode(decoder.decode({ data }))).toBe(
      `event: response.reasoning_summary_part.added\ndata: ${data}\n\n`,
    );
  });

  it('passes events on that it does not know, in their order and with their numbers', () => {
    const context = contextOf();
    const decoder = createDecoder({ request: context.request, relay: true });
    const encoder = createEncoder(context);
    const shell = { type: 'shell_call', id: 'sh', call_id: 'c', status: 'in_progress', action: {} };
    const compaction = { type: 'compaction', id: 'cmp', encrypted_content: 'e' };
    const sent: JsonObject[] = [
      { type: 'response.output_item.added', output_index: 0, item: shell },
      { type: 'response.shell_call_command.added', output_index: 0, command_index: 0, command: '' },
      { type: 'response.shell_call_command.delta', output_index: 0, command_index: 0, delta: 'ls' },
      { type: 'response.apply_patch_call_operation_diff.delta', output_index: 0, item_id: 'sh', delta: '+' },
      { type: 'response.output_item.done', output_index: 0, item: { ...shell, status: 'completed' } },
      { type: 'response.shell_call_output_content.done', output_index: 0, item_id: 'sh', output: [] },
      { type: 'response.output_item.added', output_index: 1, item: compaction },
      { type: 'response.compaction.compacting', output_index: 1, item_id: 'cmp' },
      { type: 'response.audio.delta', delta: 'AAAA' },
      { type: 'response.made_up.next_year', stage: { of: 'many' } },
    ];
    const frames = sent.map((value, index) => ({
      data: JSON.stringify({ ...value, sequence_number: index + 100 }),
    }));
    const values = valuesOf(encoder.encode(frames.flatMap((frame) => decoder.decode(frame))));
    expect(values.map((value) => value.sequence_number)).toEqual(values.map((_, index) => index));
    expect(values.slice(2)).toEqual(sent.map((value, index) => ({ ...value, sequence_number: index + 2 })));
  });

  it('passes the error of an event that does not end the answer on as a message', () => {
    const context = contextOf();
    const decoder = createDecoder({ request: context.request, relay: true });
    const value = { type: 'response.steer.failed', error: { code: 'x', message: 'too late' } };
    const [last] = valuesOf(
      createEncoder(context).encode(decoder.decode({ data: JSON.stringify(value) })),
    ).slice(-1);
    expect(last).toEqual({ type: 'response.steer.failed', message: 'too late', sequence_number: 2 });
  });

  it('ends in the gateway’s own failure when that is how it ends', () => {
    const error = new GatewayError('upstream-timeout', 'The provider stopped answering');
    const { values } = relay(() => ({ type: 'failure', error }));
    expect(lastResponse(values)).toMatchObject({ status: 'failed', output: [{ id: 'a-1' }, { id: 'b-1' }] });
  });

  it('never lets names that are none through', () => {
    const context = contextOf();
    const decoder = createDecoder({ request: context.request, relay: true });
    const frames = ['response.x\nevent: y', 'x\nevent: y', 'x\ry', 'x y', '', 'ok'].map((type) => ({
      data: JSON.stringify({ type }),
    }));
    const written = createEncoder(context).encode(frames.flatMap((frame) => decoder.decode(frame)));
    expect(valuesOf(written).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'ok',
    ]);
  });

  it('hides reasoning here too', () => {
    const { values } = relay(settle, { reasoning: { exclude: true } });
    expect(JSON.stringify(values)).not.toContain('Counting');
    expect(values.map((value) => value.sequence_number)).toEqual(values.map((_, index) => index));
  });
});

describe('encodeBody', () => {
  it('is the final snapshot of the stream', () => {
    const events = [...reasoningItem(0, 'hm'), ...textItem(1, 'Hi'), finish];
    expect(encodeBody(fold(events), contextOf())).toEqual(lastResponse(encode(events)));
  });

  it('patches a relayed body', () => {
    const relayed = {
      id: 'upstream-id',
      model: 'upstream-model',
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
      usage: { input_tokens: 1, output_tokens: 1, cost: 99 },
      novel: 1,
    };
    const body = encodeBody({ items: [], finish, settled: finish.settled, relayed }, contextOf());
    expect(body).toMatchObject({
      id: 'resp_AbC',
      model: 'acme/large',
      novel: 1,
      usage: { input_tokens: 10, cost: 0.0000015 },
      output: [
        {
          id: 'msg_AbC_0',
          role: 'assistant',
          status: 'completed',
          content: [{ annotations: [], logprobs: [] }],
        },
      ],
    });
  });

  it('repeats the settings of the request, whatever the upstream made of them', () => {
    const tools = [{ type: 'function', name: 'f', parameters: {}, description: 'd', strict: true }];
    const asked: JsonObject = {
      parallel_tool_calls: false,
      tool_choice: 'none',
      tools,
      text: { format: { type: 'text' }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      max_output_tokens: 100,
      max_tool_calls: 3,
      temperature: 0.5,
      truncation: 'auto',
      metadata: { a: 'b' },
      instructions: 'Be brief.',
    };
    const theirs: JsonObject = {
      id: 'upstream-id',
      status: 'completed',
      output: [],
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      text: { format: { type: 'text' }, verbosity: 'medium' },
      reasoning: { effort: 'high', summary: 'detailed' },
      max_output_tokens: 4096,
      max_tool_calls: 9,
      temperature: 1,
      truncation: 'disabled',
      metadata: {},
      instructions: 'Theirs.',
      prompt_cache_options: { mode: 'explicit' },
      error_type: 'theirs',
      acme_metadata: {},
    };
    const context = contextOf(asked);
    const decoder = createDecoder({ request: context.request, relay: true });
    const events = ['created', 'completed'].flatMap((name) => {
      const data = JSON.stringify({ type: `response.${name}`, response: theirs });
      return decoder.decode({ data });
    });
    const snapshots = valuesOf(createEncoder(context).encode([...events, finish])).map((value) =>
      objectAt(value, 'response'),
    );
    const body = encodeBody({ items: [], finish, settled: finish.settled, relayed: theirs }, context);
    for (const response of [...snapshots, body]) {
      expect(response).toMatchObject(asked);
      for (const name of ['prompt_cache_options', 'error_type', 'acme_metadata']) {
        expect(response).not.toHaveProperty(name);
      }
    }
    expect(snapshots).toHaveLength(3);
  });
});
