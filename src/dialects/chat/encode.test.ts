import { describe, expect, it } from 'vitest';
import {
  chunk,
  chunksOf,
  decodeFrames,
  encodeEvents,
  framesOf,
  readFrames,
  replyTo,
  requestWith,
  settledWith,
} from '../../../test/kit/fixtures/chat/chat-fixture.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import { fold } from '../../ir/folding/fold.ts';
import type { Annotation } from '../../ir/items.ts';
import type { RoutingMetadata } from '../../ir/metadata.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { unwrapSeal } from '../shared/reasoning/custody.ts';
import { createEncoder } from './encode.ts';
import { encodeBody } from './encode-body.ts';

const HEAD = {
  id: 'gen-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'a/b',
  provider: 'Acme',
};

const ANSWER: Event[] = [
  { type: 'start', upstreamId: 'x', upstreamModel: 'y' },
  { type: 'item-start', item: 0, head: { type: 'reasoning', id: 'rs_1' } },
  { type: 'part-start', item: 0, part: 0, kind: 'thought' },
  { type: 'text-delta', item: 0, part: 0, kind: 'thought', text: 'Hm' },
  { type: 'part-end', item: 0, part: 0, kind: 'thought' },
  { type: 'seal', item: 0, seal: { signature: 'sig', format: 'anthropic-claude-v1', givenBy: 'chat' } },
  { type: 'item-end', item: 0 },
  { type: 'item-start', item: 1, head: { type: 'message' } },
  { type: 'part-start', item: 1, part: 0, kind: 'text' },
  {
    type: 'text-delta',
    item: 1,
    part: 0,
    kind: 'text',
    text: 'Hi',
    logprobs: [{ token: 'Hi', logprob: -1 }],
  },
  { type: 'part-end', item: 1, part: 0, kind: 'text' },
  { type: 'item-end', item: 1 },
  { type: 'item-start', item: 2, head: { type: 'tool-call', kind: 'function', callId: 'c1', name: 'f' } },
  { type: 'tool-input-delta', item: 2, text: '{}' },
  { type: 'item-end', item: 2 },
  { type: 'usage', usage: { ...NO_USAGE, inputTokens: 3, outputTokens: 2, source: 'measured' } },
  { type: 'finish', reason: 'tool-calls', nativeReason: 'tool_use' },
];

function deltasOf(text: string): JsonObject[] {
  return chunksOf(text).map((value) => (value.choices as JsonObject[])[0]?.delta as JsonObject);
}

describe('a translated stream', () => {
  it('begins with the role, then sends every delta in order', () => {
    expect(deltasOf(encodeEvents(ANSWER, requestWith()))).toEqual([
      { role: 'assistant', content: '' },
      {
        reasoning: 'Hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm', id: 'rs_1', index: 0 }],
      },
      {
        reasoning_details: [
          {
            type: 'reasoning.text',
            text: '',
            signature: 'sig',
            id: 'rs_1',
            format: 'anthropic-claude-v1',
            index: 0,
          },
        ],
      },
      { content: 'Hi' },
      { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { content: '' },
    ]);
  });

  it('ends with one chunk that has choices, usage and cost, then the end marker', () => {
    const text = encodeEvents(ANSWER, requestWith());
    expect(readFrames(text).at(-1)?.data).toBe('[DONE]');
    expect(chunksOf(text).at(-1)).toEqual({
      ...HEAD,
      service_tier: 'default',
      choices: [
        {
          index: 0,
          delta: { content: '' },
          finish_reason: 'tool_calls',
          native_finish_reason: 'tool_use',
          logprobs: null,
        },
      ],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, image_tokens: 0 },
        cost: 0.0000015,
        is_byok: false,
        cost_details: {
          upstream_inference_cost: null,
          upstream_inference_prompt_cost: 0.0000005,
          upstream_inference_completions_cost: 0.000001,
        },
      },
    });
  });

  it('puts log probabilities on the choice', () => {
    const choices = chunksOf(encodeEvents(ANSWER, requestWith())).map(
      (value) => (value.choices as JsonObject[])[0],
    );
    expect(choices.map((choice) => choice?.logprobs)).toContainEqual({
      content: [{ token: 'Hi', logprob: -1 }],
      refusal: null,
    });
  });

  it('leaves thoughts out when asked to', () => {
    const text = encodeEvents(ANSWER, requestWith({ reasoning: { exclude: true } }));
    expect(text).not.toContain('Hm');
    expect(text).toContain('"content":"Hi"');
  });

  it('writes nothing after the end', () => {
    const encoder = createEncoder(replyTo(requestWith()));
    encoder.encode([{ type: 'finish', reason: 'stop' }]);
    expect(encoder.encode(ANSWER)).toBe('');
  });

  it('reports a failure in the stream, with its status, and ends', () => {
    const error = new GatewayError('upstream-overloaded', 'Busy', { metadata: { provider_name: 'Acme' } });
    const text = encodeEvents([...ANSWER.slice(0, 10), { type: 'failure', error }], requestWith());
    expect(chunksOf(text).at(-1)).toMatchObject({
      ...HEAD,
      error: {
        code: 529,
        message: 'Busy',
        metadata: { provider_name: 'Acme', error_type: 'provider_overloaded' },
      },
      choices: [{ index: 0, finish_reason: 'error' }],
    });
    expect(readFrames(text).at(-1)?.data).toBe('[DONE]');
  });

  it('carries routing metadata on the last chunk under the operator’s name', () => {
    const metadata = { requested: 'a/b', strategy: 'direct' } as RoutingMetadata;
    const settled = { ...settledWith(fold(ANSWER)), metadata };
    const text = createEncoder(replyTo(requestWith())).encode([{ type: 'finish', reason: 'stop', settled }]);
    expect(chunksOf(text)).toMatchObject([{ acme_metadata: { requested: 'a/b', strategy: 'direct' } }]);
  });

  it('keeps any text of a model inside JSON', () => {
    const nasty = 'a\n\ndata: {"error":1}\r\n\u2028\u0000 event: x';
    const text = encodeEvents(
      [
        { type: 'item-start', item: 0, head: { type: 'message' } },
        { type: 'text-delta', item: 0, part: 0, kind: 'text', text: nasty },
        { type: 'finish', reason: 'stop' },
      ],
      requestWith(),
    );
    expect(deltasOf(text).map(({ content }) => content)).toEqual(['', nasty, '']);
    expect(readFrames(text).every(({ event }) => event === undefined)).toBe(true);
  });

  it('wraps a seal of another dialect so that it can be sent back', () => {
    const seal = { signature: 'sig', format: 'anthropic-claude-v1' };
    const events = ANSWER.map((event) => (event.type === 'seal' ? { ...event, seal } : event));
    const [detail] = deltasOf(encodeEvents(events, requestWith())).flatMap(({ reasoning_details: details }) =>
      ((details ?? []) as JsonObject[]).filter(({ signature }) => signature !== undefined),
    );
    expect(unwrapSeal(detail?.signature as string)).toEqual(seal);
    expect(detail?.format).toBe('anthropic-claude-v1');
  });

  it('puts a blank line between the parts of thoughts, in the plain text only', () => {
    const summary = (part: number, text: string): Event[] => [
      { type: 'part-start', item: 0, part, kind: 'summary' },
      { type: 'text-delta', item: 0, part, kind: 'summary', text },
      { type: 'text-delta', item: 0, part, kind: 'summary', text: '!' },
      { type: 'part-end', item: 0, part, kind: 'summary' },
    ];
    const events: Event[] = [
      { type: 'item-start', item: 0, head: { type: 'reasoning' } },
      ...summary(0, 'sum1'),
      ...summary(1, 'sum2'),
      { type: 'item-end', item: 0 },
      { type: 'finish', reason: 'stop' },
    ];
    const deltas = deltasOf(encodeEvents(events, requestWith()));
    expect(deltas.map(({ reasoning }) => reasoning ?? '').join('')).toBe('sum1!\n\nsum2!');
    expect(deltas[3]).toMatchObject({ reasoning_details: [{ summary: 'sum2' }] });
    const body = encodeBody(fold(events), replyTo(requestWith()));
    expect(body).toMatchObject({ choices: [{ message: { reasoning: 'sum1!\n\nsum2!' } }] });
  });

  it('says where in the whole content a citation belongs', () => {
    const citation = (url: string, more: object = {}): Annotation => ({ type: 'url-citation', url, ...more });
    const part = (number: number, text: string, annotation: Annotation): Event[] => [
      { type: 'part-start', item: 0, part: number, kind: 'text' },
      { type: 'annotation', item: 0, part: number, annotation },
      { type: 'text-delta', item: 0, part: number, kind: 'text', text },
      { type: 'part-end', item: 0, part: number, kind: 'text' },
    ];
    const events: Event[] = [
      { type: 'item-start', item: 0, head: { type: 'message' } },
      ...part(0, 'Blue', citation('https://a.b')),
      ...part(1, ', and', citation('https://c.d', { startIndex: 2, endIndex: 5 })),
      ...part(2, ' red.', citation('https://e.f')),
      { type: 'item-end', item: 0 },
      { type: 'finish', reason: 'stop' },
    ];
    const spans = [
      { url_citation: { url: 'https://a.b', start_index: 0, end_index: 4 } },
      { url_citation: { url: 'https://c.d', start_index: 6, end_index: 9 } },
      { url_citation: { url: 'https://e.f', start_index: 9, end_index: 14 } },
    ];
    const deltas = deltasOf(encodeEvents(events, requestWith()));
    expect(deltas.flatMap(({ annotations }) => annotations ?? [])).toMatchObject(spans);
    const body = encodeBody(fold(events), replyTo(requestWith()));
    expect(body).toMatchObject({ choices: [{ message: { content: 'Blue, and red.', annotations: spans } }] });
    const again = fold(decodeFrames(readFrames(encodeEvents(events, requestWith())), requestWith()));
    expect(encodeBody(again, replyTo(requestWith()))).toMatchObject({
      choices: [{ message: { annotations: spans } }],
    });
  });

  it('shows free text for a tool that was not declared to take any as the argument of a function', () => {
    const events: Event[] = [
      { type: 'item-start', item: 0, head: { type: 'tool-call', kind: 'custom', callId: 'c1', name: 'sh' } },
      { type: 'tool-input-delta', item: 0, text: 'ls "' },
      { type: 'tool-input-delta', item: 0, text: 'x"' },
      { type: 'item-end', item: 0 },
      { type: 'finish', reason: 'tool-calls' },
    ];
    const shown = { name: 'sh', arguments: '{"input":"ls \\"x\\""}' };
    const calls = (tools: JsonObject[]) =>
      deltasOf(encodeEvents(events, requestWith({ tools }))).flatMap(({ tool_calls }) => tool_calls ?? []);
    expect(calls([])).toEqual([
      { index: 0, id: 'c1', type: 'function', function: { name: 'sh', arguments: '' } },
      { index: 0, function: { arguments: shown.arguments } },
    ]);
    expect(encodeBody(fold(events), replyTo(requestWith()))).toMatchObject({
      choices: [{ message: { tool_calls: [{ type: 'function', function: shown }] } }],
    });
    expect(calls([{ type: 'custom', custom: { name: 'sh' } }])).toMatchObject([
      { type: 'custom', custom: { name: 'sh' } },
      { custom: { input: 'ls "' } },
      { custom: { input: 'x"' } },
    ]);
  });

  it('names no provider when a stream fails before one answered', () => {
    const error = new GatewayError('upstream-timeout', 'Slow', { metadata: { provider_name: 'Acme' } });
    const encoder = createEncoder({ ...replyTo(requestWith()), provider: '' });
    const [last] = chunksOf(encoder.encode([{ type: 'failure', error }]));
    expect(last).not.toHaveProperty('provider');
    expect(last).toMatchObject({ error: { metadata: { provider_name: 'Acme' } } });
  });

  it('sends comments while the caller waits', () => {
    expect(createEncoder(replyTo(requestWith())).keepAlive()).toBe(': ACME PROCESSING\n');
  });
});

describe('a relayed stream', () => {
  function relay(chunks: readonly (JsonObject | string)[], body: JsonObject = {}): string {
    const request = requestWith(body);
    return encodeEvents(decodeFrames(framesOf(chunks), request, true), request);
  }

  it('passes deltas on as they are, with our id, model and provider', () => {
    const text = relay([
      chunk({ role: 'assistant', content: '', novelty: 1 }, { system_fingerprint: 'fp' }),
      chunk({ content: 'Hi' }, { usage: null }, { odd: true }),
      chunk({}, {}, { finish_reason: 'stop' }),
      '[DONE]',
    ]);
    const [first, second, last] = chunksOf(text);
    expect(first).toMatchObject({ ...HEAD, system_fingerprint: 'fp', choices: [{ delta: { novelty: 1 } }] });
    expect(second).toMatchObject({
      ...HEAD,
      choices: [{ delta: { content: 'Hi' }, odd: true, finish_reason: null }],
    });
    expect(last).toMatchObject({ ...HEAD, system_fingerprint: 'fp', choices: [{ finish_reason: 'stop' }] });
    expect(text).not.toContain('chatcmpl-7');
    expect(text).not.toContain('large-v1');
  });

  it('holds the end back until it is settled, and writes usage once', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, vendor_extra: 9 };
    const text = relay([
      chunk({ content: 'Hi' }, { usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } }),
      chunk({ content: '!' }, { usage }, { finish_reason: 'length' }),
      { ...chunk({}), choices: [], usage },
      '[DONE]',
    ]);
    const chunks = chunksOf(text);
    expect(chunks.map(({ usage }) => usage !== undefined)).toEqual([false, false, true]);
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: 'length' }],
      usage: { completion_tokens: 2, vendor_extra: 9, cost: 0.0000015 },
    });
    expect(deltasOf(text).map(({ content }) => content)).toEqual(['Hi', '!', '']);
  });

  it('rewrites frames that clients could not read', () => {
    const text = relay([
      chunk({ reasoning_content: 'Hm' }),
      chunk({ content: [{ type: 'text', text: 'Hi' }] }),
      chunk({ tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{}' } }] }),
      '[DONE]',
    ]);
    expect(deltasOf(text)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm', index: 0 }] },
      { content: 'Hi' },
      { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { content: '' },
    ]);
  });

  it('leaves thoughts out when asked to', () => {
    const text = relay(
      [
        chunk({ reasoning: 'Hm', reasoning_details: [] }),
        chunk({ reasoning_content: 'Hm' }),
        chunk({ content: 'Hi' }),
        '[DONE]',
      ],
      { include_reasoning: false },
    );
    expect(text).not.toContain('Hm');
    expect(deltasOf(text).map(({ content }) => content)).toContain('Hi');
  });

  it('sends text once that comes amid an unfinished call', () => {
    const text = relay([
      chunk({
        tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x"' } }],
      }),
      chunk({ content: 'meanwhile' }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      '[DONE]',
    ]);
    expect(text.split('meanwhile')).toHaveLength(2);
    expect(fold(decodeFrames(readFrames(text), requestWith())).items).toMatchObject([
      { type: 'tool-call', input: '{"x":1}' },
      { type: 'message', content: [{ text: 'meanwhile' }] },
    ]);
  });

  const callsIn = (text: string) => deltasOf(text).flatMap(({ tool_calls }) => tool_calls ?? []);
  const calling = (...calls: JsonObject[]) => chunk({ tool_calls: calls });
  const whole = (id: string, args: Json, index = 0) => ({
    index,
    id,
    type: 'function',
    function: { name: 'f', arguments: args },
  });

  it('distinguishes calls that share an index', () => {
    const text = relay([
      calling(whole('a', '{}')),
      calling(whole('b', '')),
      calling({ index: 0, function: { arguments: '{}' } }),
      '[DONE]',
    ]);
    expect(callsIn(text)).toEqual([
      whole('a', '{}'),
      whole('b', '', 1),
      { index: 1, function: { arguments: '{}' } },
    ]);
  });

  it('writes arguments as text', () => {
    expect(callsIn(relay([calling(whole('a', { x: 1 })), '[DONE]']))).toEqual([
      whole('a', ''),
      { index: 0, function: { arguments: '{"x":1}' } },
    ]);
  });

  it('keeps the id that a call began with', () => {
    const text = relay([
      calling(whole('', '')),
      calling({ index: 0, id: 'zz', function: { arguments: '{}' } }),
      '[DONE]',
    ]);
    expect(callsIn(text)).toEqual([
      whole('call_chatcmpl-7_0', ''),
      { index: 0, function: { arguments: '{}' } },
    ]);
  });

  it('counts calls from 0, and begins none without a name', () => {
    const text = relay([
      calling({ index: 3, id: 'a', type: 'function' }),
      calling({ index: 3, function: { name: 'f', arguments: '{}' } }),
      '[DONE]',
    ]);
    expect(callsIn(text)).toEqual([whole('a', ''), { index: 0, function: { arguments: '{}' } }]);
  });

  it('leaves correct calls unchanged', () => {
    const odd = { ...whole('a', '{'), extra_content: { x: 1 } };
    const fine = [
      odd,
      whole('b', '', 1),
      { index: 0, id: 'a', function: { arguments: '}' } },
      { index: 1, id: '' },
    ];
    const text = relay([
      ...fine.slice(0, 2).map((call) => calling(call)),
      calling(...fine.slice(2)),
      '[DONE]',
    ]);
    expect(callsIn(text)).toEqual([...fine, { index: 1, function: { arguments: '{}' } }]);
  });

  it('gives a function that was called without arguments none, before the end', () => {
    const text = relay([calling(whole('a', '')), chunk({}, {}, { finish_reason: 'tool_calls' }), '[DONE]']);
    expect(deltasOf(text)).toEqual([
      { role: 'assistant', tool_calls: [whole('a', '')] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { content: '' },
    ]);
    const legacy = relay([chunk({ function_call: { name: 'f', arguments: '' } }), '[DONE]'], {
      functions: [{ name: 'f' }],
    });
    expect(deltasOf(legacy)[1]).toEqual({ function_call: { arguments: '{}' } });
  });

  it('leaves legacy calls to callers who asked for them', () => {
    const chunks = [
      chunk({ function_call: { name: 'f', arguments: '{}' } }),
      chunk({}, {}, { finish_reason: 'function_call' }),
      '[DONE]',
    ];
    const legacy = relay(chunks, { functions: [{ name: 'f' }] });
    expect(deltasOf(legacy)[0]).toMatchObject({ function_call: { name: 'f' } });
    expect(chunksOf(legacy).at(-1)).toMatchObject({ choices: [{ finish_reason: 'function_call' }] });
    expect(chunksOf(relay(chunks)).at(-1)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
  });

  it('turns an upstream error into ours', () => {
    const text = relay([
      chunk({ content: 'Hi' }),
      chunk({ content: '' }, { error: { code: 500, message: 'Boom' } }),
    ]);
    expect(chunksOf(text).at(-1)).toMatchObject({
      error: { code: 502, message: 'Boom' },
      choices: [{ finish_reason: 'error' }],
    });
    expect(chunksOf(text)).toHaveLength(2);
  });
});
