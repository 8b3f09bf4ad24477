import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../ir/events.ts';
import { fold } from '../../ir/folding/fold.ts';
import { SseReader } from '../../kit/frames/sse.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { parseRequest } from './parse.ts';

const request = parseRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }, { vendor: 'acme' });

function decode(events: readonly (JsonObject | string)[], relay = false): Event[] {
  const decoder = createDecoder({ request, relay });
  const frames = events.map((event) => ({ data: typeof event === 'string' ? event : JSON.stringify(event) }));
  return [...frames.flatMap((frame) => decoder.decode(frame)), ...decoder.end()];
}

const START: JsonObject = { type: 'message_start', message: { id: 'a', usage: { input_tokens: 3 } } };
const STOP: JsonObject = { type: 'message_stop' };

function block(index: number, content_block: JsonObject, ...deltas: JsonObject[]): JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta): JsonObject => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function end(delta: JsonObject, usage: JsonObject = { output_tokens: 5 }): JsonObject[] {
  return [{ type: 'message_delta', delta, usage }, STOP];
}

describe('reading a messages stream', () => {
  it('reads the stream of a server that deviates from the format', () => {
    const reader = new SseReader();
    const bytes = readFileSync(
      new URL('../../../test/kit/fixtures/messages/odd-server.sse', import.meta.url),
    );
    const frames = [...reader.push(bytes), ...reader.end()];
    const decoder = createDecoder({ request, relay: false });
    const result = fold([...frames.flatMap((frame) => decoder.decode(frame)), ...decoder.end()]);
    expect(result).toMatchObject({
      upstreamId: 'msg_first',
      failure: undefined,
      finish: { reason: 'tool-calls' },
      usage: {
        inputTokens: 20,
        cachedTokens: 4,
        cacheWriteTokens: 0,
        cacheWrite1hTokens: 6,
        outputTokens: 42,
      },
      items: [
        { type: 'message', content: [{ text: 'no start, but text' }], status: 'completed' },
        { type: 'tool-call', callId: 'toolu_turn1_1', input: '{"city":"Rome"}' },
        { type: 'tool-call', callId: 'toolu_b', input: '{"city":"Oslo"}' },
        { type: 'tool-call', callId: 'toolu_c', input: '{"zone":"UTC"}' },
      ],
    });
  });

  it('closes everything before the end, and marks what was cut off', () => {
    const events = decode([
      START,
      ...block(0, { type: 'text', text: '' }, { text: 'hal' }),
      ...end({ stop_reason: 'max_tokens' }),
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      'start',
      'item-start',
      'part-start',
      'text-delta',
      'part-end',
      'item-end',
      'usage',
      'finish',
    ]);
    expect(fold(events)).toMatchObject({ finish: { reason: 'length' }, items: [{ status: 'incomplete' }] });
  });

  it('keeps native words for the way back', () => {
    const { finish } = fold(
      decode([START, ...end({ stop_reason: 'model_context_window_exceeded', container: { id: 'c' } })]),
    );
    expect(finish).toMatchObject({
      reason: 'length',
      ext: { messages: { stop_reason: 'model_context_window_exceeded', container: { id: 'c' } } },
    });
    expect(
      fold(decode([START, ...end({ stop_reason: 'stop_sequence', stop_sequence: 'END' })])).finish,
    ).toMatchObject({
      reason: 'stop',
      stopSequence: 'END',
    });
  });

  it('reads thoughts with their seals', () => {
    const { items } = fold(
      decode([
        START,
        ...block(
          0,
          { type: 'thinking', thinking: '', signature: '' },
          { thinking: 'hm' },
          { signature: 'sig' },
        ),
        ...block(1, { type: 'redacted_thinking', data: 'secret' }),
        ...end({ stop_reason: 'end_turn' }),
      ]),
    );
    expect(items).toEqual([
      {
        type: 'reasoning',
        text: ['hm'],
        summary: [],
        signature: 'sig',
        format: 'anthropic-claude-v1',
        status: 'completed',
      },
      {
        type: 'reasoning',
        text: [],
        summary: [],
        encrypted: 'secret',
        format: 'anthropic-claude-v1',
        status: 'completed',
      },
    ]);
  });

  it('carries blocks it does not model', () => {
    const use: JsonObject = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const found: JsonObject = { type: 'web_search_tool_result', tool_use_id: 's', content: [] };
    const { items } = fold(
      decode([
        START,
        ...block(0, use, { partial_json: '{"q":1}' }),
        ...block(1, found),
        ...end({ stop_reason: 'pause_turn' }),
      ]),
    );
    expect(items.map((item) => item.type === 'opaque' && item.value)).toEqual([
      { ...use, input: { q: 1 } },
      found,
    ]);
  });

  it('does not take incomplete counts for complete ones', () => {
    expect(
      fold(decode([START, { type: 'message_delta', delta: { stop_reason: 'end_turn' } }, STOP])).usage,
    ).toBeUndefined();
    expect(
      fold(decode([START, ...end({ stop_reason: 'end_turn' }, { output_tokens: -1 })])).usage,
    ).toBeUndefined();
    expect(
      fold(decode([START, ...end({ stop_reason: 'end_turn' }, { output_tokens: 0 })])).usage,
    ).toMatchObject({
      inputTokens: 3,
      outputTokens: 0,
    });
  });

  it('emits counts as soon as they come, and the last valid ones win', () => {
    const begun: JsonObject = {
      type: 'message_start',
      message: { usage: { input_tokens: 9, output_tokens: 1, cache_read_input_tokens: 4 } },
    };
    // An output count from before any output is no measurement.
    const first = { inputTokens: 13, cachedTokens: 4, outputTokens: 1, source: 'estimated' };
    const text = block(0, { type: 'text', text: 'x' });
    const [, early] = decode([begun]);
    expect(early).toMatchObject({ type: 'usage', usage: first });
    expect(fold(decode([begun, ...text]))).toMatchObject({ failure: {}, usage: first });
    const silent: JsonObject = { type: 'message_delta', delta: { stop_reason: 'end_turn' } };
    expect(fold(decode([begun, ...text, silent, STOP])).usage).toMatchObject(first);
    for (const usage of [{ output_tokens: -1 }, { input_tokens: null }, { output_tokens: 1e12 }]) {
      expect(fold(decode([begun, ...end({ stop_reason: 'end_turn' }, usage)])).usage).toMatchObject(first);
    }
    const whole = decode([begun, ...text, ...end({ stop_reason: 'end_turn' })]);
    expect(whole.filter(({ type }) => type === 'usage')).toMatchObject([
      { usage: first },
      { usage: { ...first, outputTokens: 5, source: 'measured' } },
    ]);
  });

  it.each([
    ['overloaded_error', 'upstream-overloaded'],
    ['rate_limit_error', 'rate-limited'],
    ['api_error', 'upstream-unavailable'],
  ])('makes an error event %s a failure', (type, kind) => {
    const { failure } = fold(decode([START, { type: 'error', error: { type, message: 'line\none' } }, STOP]));
    expect(failure).toMatchObject({ kind, message: 'line one' });
  });

  it('does not take a broken stream for a whole one', () => {
    const cut = decode([START, ...block(0, { type: 'text', text: 'x' })]);
    expect(cut.at(-1)).toMatchObject({ type: 'failure', error: { kind: 'upstream-unavailable' } });
    expect(
      decode([START, { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} }]).at(-1),
    ).toMatchObject({
      type: 'finish',
    });
  });

  it('gives one relay event for each frame that is JSON', () => {
    const events = decode([START, 'nonsense', '[1]', ...end({ stop_reason: 'end_turn' }), STOP], true);
    expect(events.map((event) => event.type === 'relay' && event.value.type)).toEqual([
      'message_start',
      'message_delta',
      'message_stop',
    ]);
  });

  it('never throws, whatever an object holds', () => {
    const odd = [null, 1, 'x', [], {}, { type: 7 }];
    for (const type of [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
    ]) {
      for (const value of odd) {
        const event = {
          type,
          message: value,
          content_block: value,
          delta: value,
          index: value,
          usage: value,
        } as JsonObject;
        expect(() => fold(decode([event, event, STOP]))).not.toThrow();
      }
    }
  });
});

describe('reading a whole message', () => {
  const context = { request, relay: false };

  it('is a failure when it is none', () => {
    expect(
      decodeBody({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, context),
    ).toMatchObject([{ type: 'failure', error: { kind: 'upstream-overloaded', message: 'busy' } }]);
    expect(decodeBody({ error: { message: 'no' } }, context)).toMatchObject([{ type: 'failure' }]);
    expect(decodeBody({ choices: [] }, context)).toMatchObject([{ type: 'failure' }]);
  });

  it('reads text, citations and calls', () => {
    const citation = { type: 'char_location', cited_text: 'c', document_index: 0 };
    const body: JsonObject = {
      content: [
        { type: 'text', text: 'a', citations: [citation] },
        { type: 'tool_use', id: 't', name: 'n', input: { a: [1] } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 2, service_tier: 'standard' },
    };
    expect(fold(decodeBody(body, context))).toMatchObject({
      items: [
        { content: [{ text: 'a', annotations: [{ type: 'opaque', dialect: 'messages', value: citation }] }] },
        { callId: 't', input: '{"a":[1]}' },
      ],
      finish: { reason: 'tool-calls', serviceTier: 'default' },
      usage: { inputTokens: 1, outputTokens: 2 },
    });
    expect(decodeBody(body, { request, relay: true })).toMatchObject([
      { type: 'relay', whole: true, value: body },
    ]);
  });
});
