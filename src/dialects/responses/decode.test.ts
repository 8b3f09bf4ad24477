import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../ir/events.ts';
import { fold } from '../../ir/folding/fold.ts';
import { SseReader } from '../../kit/frames/sse.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { parseRequest } from './parse.ts';

const request = parseRequest({ model: 'm', input: 'hi' }, { vendor: 'acme' });

function decode(...values: (JsonObject | string)[]): Event[] {
  const decoder = createDecoder({ request, relay: false });
  const frames = values.map((value) => ({ data: typeof value === 'string' ? value : JSON.stringify(value) }));
  return [...frames.flatMap((frame) => decoder.decode(frame)), ...decoder.end()];
}

const completed = (over: JsonObject = {}) => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', output: [], ...over },
});
const usage = { input_tokens: 3, output_tokens: 2 };
const message = (text: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
const textDelta = (delta: string, over: JsonObject = {}) => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  delta,
  ...over,
});

describe('the decoder', () => {
  it('keeps the first id of each item and the whole text, whatever the upstream repeats', () => {
    const text = readFileSync('test/kit/fixtures/responses/changing-ids.sse');
    const decoder = createDecoder({ request, relay: false });
    const result = fold(new SseReader().push(text).flatMap((frame) => decoder.decode(frame)));
    expect(result.items).toEqual([
      {
        type: 'reasoning',
        id: 'a-1',
        text: [],
        summary: ['Counting'],
        encrypted: 'c2VhbA==',
        format: 'openai-responses-v1',
        status: 'completed',
      },
      {
        type: 'message',
        role: 'assistant',
        id: 'b-1',
        content: [{ type: 'text', text: 'Three.' }],
        status: 'completed',
      },
    ]);
    expect(result).toMatchObject({ upstreamId: 'r-1', usage: { inputTokens: 10, outputTokens: 4 } });
  });

  it('starts what was never announced, and closes what was never closed', () => {
    const events = decode(textDelta('Hel'), textDelta('lo'), completed({ usage }));
    expect(events.map((event) => event.type)).toEqual([
      'start',
      'item-start',
      'part-start',
      'text-delta',
      'text-delta',
      'part-end',
      'item-end',
      'usage',
      'finish',
    ]);
  });

  it('reads an answer that only its last event has', () => {
    const result = fold(decode(completed({ output: [message('Hello')], usage })));
    expect(result.items).toMatchObject([{ type: 'message', content: [{ type: 'text', text: 'Hello' }] }]);
    expect(result.finish?.reason).toBe('stop');
  });

  it('does not emit again what the last event repeats', () => {
    const done = { type: 'response.output_item.done', output_index: 0, item: message('Hello') };
    const result = fold(decode(textDelta('Hello'), done, completed({ output: [message('Hello')] })));
    expect(result.items).toMatchObject([{ content: [{ text: 'Hello' }] }]);
  });

  it('puts interleaved arguments together per call, the ids missing', () => {
    const call = (index: number, name: string) => ({
      type: 'response.output_item.added',
      output_index: index,
      item: { type: 'function_call', name, arguments: '' },
    });
    const piece = (index: number, delta: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index: index,
      delta,
    });
    const result = fold(
      decode(
        call(1, 'b'),
        call(0, 'a'),
        piece(0, '{"x"'),
        piece(1, '{"y"'),
        piece(0, ':1}'),
        piece(1, ':2}'),
        completed(),
      ),
    );
    expect(result.items).toMatchObject([
      { name: 'b', input: '{"y":2}' },
      { name: 'a', input: '{"x":1}' },
    ]);
    const ids = result.items.map((item) => (item.type === 'tool-call' ? item.callId : ''));
    expect(new Set(ids).size).toBe(2);
    expect(result.finish?.reason).toBe('tool-calls');
  });

  it('takes a call whose arguments come in one piece and whose start was left out', () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"a":1}' };
    const result = fold(
      decode(
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":1}' },
        { type: 'response.output_item.done', output_index: 0, item },
        completed(),
      ),
    );
    expect(result.items).toMatchObject([{ callId: 'c', name: 'f', input: '{"a":1}', id: 'fc_1' }]);
  });

  it('closes reasoning before the next item when the upstream lets them overlap', () => {
    const added = (index: number, type: string) => ({
      type: 'response.output_item.added',
      output_index: index,
      item: { type, id: `i${index}` },
    });
    const thought = { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'hm' };
    const events = decode(
      added(0, 'reasoning'),
      thought,
      added(1, 'message'),
      textDelta('x', { output_index: 1 }),
      completed(),
    );
    const order = events.map((event) => ('item' in event ? `${event.type} ${event.item}` : event.type));
    expect(order.indexOf('item-end 0')).toBeLessThan(order.indexOf('item-start 1'));
  });

  it('skips what it cannot read, and everything after the end', () => {
    const events = decode(
      'not json',
      '"text"',
      { type: 'response.something_new' },
      { type: 'keepalive' },
      textDelta('ok'),
      completed({ usage }),
      textDelta('late'),
      completed({ usage: { input_tokens: 999, output_tokens: 999 } }),
    );
    const result = fold(events);
    expect(result.items).toMatchObject([{ content: [{ text: 'ok' }] }]);
    expect(result.usage).toMatchObject({ inputTokens: 3 });
    expect(events.filter((event) => event.type === 'finish')).toHaveLength(1);
  });

  it.each([
    [{ input_tokens: -1, output_tokens: 2 }],
    [{ input_tokens: 1e30, output_tokens: 2 }],
    [{ input_tokens: '3', output_tokens: 2 }],
    [null],
  ])('ignores impossible usage: %s', (wrong) => {
    expect(fold(decode(completed({ usage: wrong }))).usage).toBeUndefined();
  });

  it('keeps an explicit zero', () => {
    const zero = { input_tokens: 0, output_tokens: 0 };
    expect(fold(decode(completed({ usage: zero }))).usage).toMatchObject({
      inputTokens: 0,
      source: 'measured',
    });
  });

  it('ends the item being written as incomplete when the length ran out', () => {
    const result = fold(
      decode(textDelta('abc'), {
        type: 'response.incomplete',
        response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [] },
      }),
    );
    expect(result.items).toMatchObject([{ status: 'incomplete' }]);
    expect(result.finish).toMatchObject({ reason: 'length', nativeReason: 'max_output_tokens' });
  });

  it.each([
    [{ type: 'error', error: { code: 'insufficient_quota', message: 'no quota' } }, 'rate-limited'],
    [{ type: 'error', code: 'server_is_overloaded', message: 'busy' }, 'upstream-overloaded'],
    [
      {
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'server_error', message: 'x' } },
      },
      'upstream-unavailable',
    ],
    [{ error: { message: 'plain error object', type: 'api_error' } }, 'upstream-unavailable'],
    [{ type: 'response.cancelled', response: { status: 'cancelled' } }, 'upstream-unavailable'],
  ])('makes a failure of an error in the stream %#', (value, kind) => {
    const events = decode(value as JsonObject, completed());
    expect(events.at(-1)).toMatchObject({ type: 'failure', error: { kind } });
  });

  it('makes a failure of a stream that just ends', () => {
    expect(decode(textDelta('abc'), '[DONE]').at(-1)).toMatchObject({
      type: 'failure',
      error: { kind: 'upstream-unavailable' },
    });
  });
});

describe('decodeBody', () => {
  const context = { request, relay: false };

  it('makes failures of bodies that are no answers', () => {
    for (const body of [
      {},
      { error: { message: 'x' } },
      { output: [], status: 'in_progress' },
      { choices: [] },
    ]) {
      expect(decodeBody(body as JsonObject, context).at(-1)?.type).toBe('failure');
    }
  });

  it('counts searches and keeps hosted items as they are', () => {
    const search = {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'q' },
    };
    const body = { status: 'completed', output: [search, message('found')], usage };
    const result = fold(decodeBody(body, context));
    expect(result.items[0]).toEqual({ type: 'opaque', dialect: 'responses', value: search });
    expect(result.usage?.webSearchRequests).toBe(1);
  });

  it('wraps the body in the relay lane', () => {
    const body = { status: 'completed', output: [message('hi')], usage };
    expect(decodeBody(body, { request, relay: true })).toMatchObject([
      { type: 'relay', whole: true, value: body },
    ]);
  });
});

describe('seals of providers of another family', () => {
  const quirks = { reasoningFormat: 'xai-responses-v1' };
  const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA+/=' };
  const body = { id: 'r', status: 'completed', output: [sealed, message('Hi')] };
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1' } },
    { type: 'response.output_item.done', output_index: 0, item: sealed },
    completed({ output: body.output }),
  ];
  const seal = { encrypted: 'gAAA+/=', format: 'xai-responses-v1' };

  it('are named in streams and whole answers', () => {
    const decoder = createDecoder({ request, relay: false, quirks });
    const streamed = events.flatMap((value) => decoder.decode({ data: JSON.stringify(value) }));
    for (const each of [streamed, decodeBody(body, { request, relay: false, quirks })]) {
      expect(each).toContainEqual({ type: 'seal', item: 0, seal });
      expect(fold(each).items[0]).toMatchObject({ id: 'rs_1', ...seal });
    }
  });

  it('are wrapped with their name where the answer itself goes on', () => {
    const wrapped = { encrypted_content: wrapSeal({ id: 'rs_1', ...seal }), format: seal.format };
    const decoder = createDecoder({ request, relay: true, quirks });
    const streamed = events.flatMap((value) => decoder.decode({ data: JSON.stringify(value) }));
    expect(streamed[0]).toMatchObject({ value: events[0] });
    expect(streamed[1]).toMatchObject({ value: { item: { ...sealed, ...wrapped } } });
    expect(streamed[2]).toMatchObject({ value: { response: { output: [{ ...sealed, ...wrapped }, {}] } } });
    const [whole] = decodeBody(body, { request, relay: true, quirks });
    expect(whole).toMatchObject({ value: { ...body, output: [{ ...sealed, ...wrapped }, body.output[1]] } });
  });

  it('keep the name that the upstream gives them', () => {
    const named = { ...sealed, format: 'anthropic-claude-v1' };
    const [whole] = decodeBody({ ...body, output: [named] }, { request, relay: true, quirks });
    expect(whole).toMatchObject({ value: { output: [named] } });
  });
});

describe('calls of tools that a provider ran itself', () => {
  const custom = [{ type: 'custom', name: 'mine' }];
  const asked = parseRequest({ model: 'm', input: 'hi', tools: custom }, { vendor: 'acme' });
  const context = { request: asked, quirks: { showsOwnCallsAsCustom: true } };
  const callOf = (name: string) => ({
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'c',
    name,
    input: '{}',
  });
  const body = (name: string) => ({ id: 'r', status: 'completed', output: [callOf(name), message('Hi')] });

  it('are no calls for the caller', () => {
    const own = fold(decodeBody(body('x_keyword_search'), { ...context, relay: false }));
    expect(own.items[0]).toEqual({ type: 'opaque', dialect: 'responses', value: callOf('x_keyword_search') });
    expect(own.finish?.reason).toBe('stop');
    const callers = fold(decodeBody(body('mine'), { ...context, relay: false }));
    expect(callers.items[0]).toMatchObject({ type: 'tool-call', kind: 'custom', name: 'mine' });
    expect(callers.finish?.reason).toBe('tool-calls');
  });
});
