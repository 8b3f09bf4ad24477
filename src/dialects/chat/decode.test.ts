import { describe, expect, it } from 'vitest';
import { chunk, decodeChunks, requestWith } from '../../../test/kit/fixtures/chat/chat-fixture.ts';
import type { Event } from '../../ir/events.ts';
import { fold } from '../../ir/folding/fold.ts';
import type { OutputItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';

const DONE = '[DONE]';
const stop = chunk({}, {}, { finish_reason: 'stop' });

function call(index: number | undefined, more: JsonObject, body: JsonObject = {}): JsonObject {
  return chunk({ tool_calls: [{ ...(index !== undefined && { index }), ...more, function: body }] });
}

function itemsOf(chunks: readonly (JsonObject | string)[], body: JsonObject = {}): readonly OutputItem[] {
  return fold(decodeChunks(chunks, requestWith(body))).items;
}

function inputsOf(items: readonly OutputItem[]): [string, string, string][] {
  return items.flatMap((item) =>
    item.type === 'tool-call' ? [[item.callId, item.name, item.input] as [string, string, string]] : [],
  );
}

describe('text and thoughts', () => {
  it('emits the events of a text answer in order', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const events = decodeChunks([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      stop,
      { ...chunk({}), choices: [], usage },
      DONE,
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      'start',
      'item-start',
      'part-start',
      'text-delta',
      'text-delta',
      'usage',
      'part-end',
      'item-end',
      'finish',
    ]);
    expect(events[0]).toEqual({ type: 'start', upstreamId: 'chatcmpl-7', upstreamModel: 'large-v1' });
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop', nativeReason: 'stop' });
  });

  it.each([
    ['reasoning_content', { reasoning_content: 'Hm' }],
    ['reasoning', { reasoning: 'Hm' }],
    ['thinking parts', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }],
    ['details', { reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm', index: 0 }] }],
  ])('reads thoughts from %s', (_, delta) => {
    const items = itemsOf([chunk(delta as JsonObject), chunk({ content: 'Yes' }), stop, DONE]);
    expect(items).toMatchObject([
      { type: 'reasoning', text: ['Hm'] },
      { type: 'message', content: [{ type: 'text', text: 'Yes' }] },
    ]);
  });

  it('keeps seals byte for byte, with their format', () => {
    const detail = (more: JsonObject) => chunk({ reasoning_details: [{ index: 0, ...more }] });
    const items = itemsOf([
      detail({ type: 'reasoning.summary', summary: 'Sum' }),
      detail({ type: 'reasoning.encrypted', data: 'gAAA+/=', id: 'rs_1', format: 'openai-responses-v1' }),
      detail({ type: 'reasoning.text', text: 'Next', signature: 'sig==', index: 1 }),
      stop,
      DONE,
    ]);
    expect(items).toMatchObject([
      {
        type: 'reasoning',
        summary: ['Sum'],
        encrypted: 'gAAA+/=',
        format: 'openai-responses-v1',
        givenBy: 'chat',
      },
      { type: 'reasoning', text: ['Next'], signature: 'sig==', givenBy: 'chat' },
    ]);
  });

  it('takes details that come after plain thoughts for the same thoughts', () => {
    const items = itemsOf([
      chunk({ reasoning: 'I think' }),
      chunk({ reasoning: ' so', reasoning_details: [{ type: 'reasoning.text', text: ' so', index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: ', too', index: 1, id: 'r' }] }),
      DONE,
    ]);
    expect(items).toMatchObject([{ text: ['I think so'] }, { text: [', too'] }]);
  });

  it('emits thoughts once that come as plain text and as details in separate chunks', () => {
    const detail = {
      type: 'reasoning.text',
      text: 'I think so',
      signature: 's',
      format: 'acme-v1',
      index: 0,
    };
    const items = itemsOf([
      chunk({ reasoning: 'I think' }),
      chunk({ reasoning: ' so' }),
      chunk({ reasoning_details: [detail] }),
      chunk({ content: 'Yes' }),
      stop,
      DONE,
    ]);
    expect(items).toMatchObject([
      { type: 'reasoning', text: ['I think so'], signature: 's', format: 'acme-v1' },
      { type: 'message' },
    ]);
    const other = itemsOf([
      chunk({ reasoning_details: [detail] }),
      chunk({ reasoning: 'I think so' }),
      stop,
      DONE,
    ]);
    expect(other).toMatchObject([{ type: 'reasoning', text: ['I think so'], signature: 's' }]);
    expect(other).toHaveLength(1);
  });

  it('takes an encrypted detail that bears the id of a call for the seal of that call', () => {
    const seal = { type: 'reasoning.encrypted', data: 'seal', id: 'c1', format: 'google-gemini-v1' };
    const items = itemsOf([
      call(0, { id: 'c1' }, { name: 'f', arguments: '{}' }),
      chunk({ reasoning_details: [seal] }),
      DONE,
    ]);
    expect(items).toMatchObject([
      {
        type: 'tool-call',
        callId: 'c1',
        signature: 'seal',
        signatureFormat: 'google-gemini-v1',
        signatureGivenBy: 'chat',
      },
    ]);
  });

  it('reads refusals, images, citations and audio', () => {
    const items = itemsOf([
      chunk({ content: 'See' }),
      chunk({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://x.y', title: 'X' } }] }),
      chunk({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }),
      chunk({ audio: { id: 'au', data: 'AA' } }),
      chunk({ audio: { data: 'BB', transcript: 'hey' } }),
      chunk({ refusal: 'No.' }),
      stop,
      DONE,
    ]);
    expect(items).toMatchObject([
      { type: 'message', content: [{ text: 'See', annotations: [{ url: 'https://x.y', title: 'X' }] }] },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
      { type: 'opaque', value: { audio: { id: 'au', data: 'AABB', transcript: 'hey' } } },
      { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] },
    ]);
  });

  it('calls a refusal by its name', () => {
    expect(decodeChunks([chunk({ refusal: 'No.' }), stop, DONE]).at(-1)).toMatchObject({ reason: 'refusal' });
  });
});

describe('tool calls', () => {
  it('keeps interleaved calls apart', () => {
    const items = itemsOf([
      call(1, { id: 'b', type: 'function' }, { name: 'g', arguments: '{"y"' }),
      call(0, { id: 'a', type: 'function' }, { name: 'f', arguments: '' }),
      call(1, {}, { arguments: ':2}' }),
      call(0, { id: '' }, { name: '', arguments: '{"x":1}' }),
      chunk({}, {}, { finish_reason: 'tool_calls' }),
      DONE,
    ]);
    expect(inputsOf(items)).toEqual([
      ['b', 'g', '{"y":2}'],
      ['a', 'f', '{"x":1}'],
    ]);
  });

  it('keeps the first id of a call and makes one when there is none', () => {
    const items = itemsOf([
      call(0, {}, { name: 'f', arguments: '{' }),
      call(0, { id: 'late' }, { arguments: '}' }),
      call(1, { id: 'x1' }, { name: 'g', arguments: '{"a"' }),
      call(1, { id: 'x2' }, { arguments: ':1}' }),
      DONE,
    ]);
    expect(inputsOf(items)).toEqual([
      ['call_chatcmpl-7_0', 'f', '{}'],
      ['x1', 'g', '{"a":1}'],
    ]);
  });

  it.each([
    ['without index', undefined],
    ['all under index 0', 0],
  ])('distinguishes whole calls, %s', (_, index) => {
    const items = itemsOf([
      call(index, { id: 'a' }, { name: 'f', arguments: '{"x":1}' }),
      call(index, { id: 'b' }, { name: 'f', arguments: '{"x":2}' }),
      DONE,
    ]);
    expect(inputsOf(items)).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'f', '{"x":2}'],
    ]);
  });

  it('takes arguments that are an object, and the legacy call', () => {
    expect(inputsOf(itemsOf([call(0, { id: 'a' }, { name: 'f', arguments: { x: 1 } }), DONE]))).toEqual([
      ['a', 'f', '{"x":1}'],
    ]);
    const legacy = itemsOf([
      chunk({ function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{}' } }),
      chunk({}, {}, { finish_reason: 'function_call' }),
      DONE,
    ]);
    expect(inputsOf(legacy)).toEqual([['call_chatcmpl-7_0', 'f', '{}']]);
  });

  it('finds the right one of two tools that are sent under nearly the same name', () => {
    const tools = ['a.b', 'a_b'].map((name) => ({ type: 'function', function: { name } }));
    const items = itemsOf(
      [
        call(0, { id: 'c1' }, { name: 'a_b', arguments: '{}' }),
        call(1, { id: 'c2' }, { name: 'a_b_2', arguments: '{}' }),
        DONE,
      ],
      { tools },
    );
    expect(inputsOf(items)).toEqual([
      ['c1', 'a_b', '{}'],
      ['c2', 'a.b', '{}'],
    ]);
  });

  it('gives a free-text tool its text in one piece', () => {
    const tools = [{ type: 'custom', custom: { name: 'patch' } }];
    const events = decodeChunks(
      [
        call(0, { id: 'a' }, { name: 'patch', arguments: '{"input":' }),
        call(0, {}, { arguments: '"line\\n"}' }),
        DONE,
      ],
      requestWith({ tools }),
    );
    const deltas = events.filter(({ type }) => type === 'tool-input-delta');
    expect(deltas).toEqual([{ type: 'tool-input-delta', item: 0, text: 'line\n' }]);
    expect(fold(events).items).toMatchObject([{ kind: 'custom', name: 'patch', input: 'line\n' }]);
  });

  it('lets text wait until the calls before it are whole', () => {
    const events = decodeChunks([
      call(0, { id: 'a' }, { name: 'f', arguments: '{"x"' }),
      chunk({ content: 'meanwhile' }),
      call(0, {}, { arguments: ':1}' }),
      DONE,
    ]);
    expect(inputsOf(fold(events).items)).toEqual([['a', 'f', '{"x":1}']]);
    const order = events.map((event) => `${event.type} ${'item' in event ? event.item : ''}`.trim());
    expect(order.indexOf('item-end 0')).toBeLessThan(order.indexOf('item-start 1'));
  });

  it('finishes with tool calls whatever reason the upstream gave', () => {
    const events = decodeChunks([call(0, { id: 'a' }, { name: 'f', arguments: '{}' }), stop, DONE]);
    expect(events.at(-1)).toMatchObject({ reason: 'tool-calls', nativeReason: 'stop' });
  });
});

describe('usage', () => {
  const counts = (more: JsonObject) => ({
    prompt_tokens: 10,
    completion_tokens: 4,
    total_tokens: 14,
    ...more,
  });
  const usageOf = (...chunks: JsonObject[]) => fold(decodeChunks([...chunks, stop, DONE])).usage;

  it.each([
    ['a chunk of its own', { ...chunk({}), choices: [], usage: counts({}) }],
    ['x_groq', chunk({}, { x_groq: { usage: counts({}) } })],
    ['the choice', chunk({}, {}, { usage: counts({}) })],
  ])('is found in %s', (_, carrier) => {
    expect(usageOf(chunk({ content: 'x' }), carrier)).toMatchObject({ inputTokens: 10, outputTokens: 4 });
  });

  it('reads the details of several vendors', () => {
    expect(usageOf(chunk({ content: 'x' }, { usage: counts({ prompt_cache_hit_tokens: 6 }) }))).toMatchObject(
      {
        cachedTokens: 6,
      },
    );
    const details = {
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 4, image_tokens: 0 },
    };
    expect(usageOf(chunk({ content: 'x' }, { usage: counts(details) }))).toMatchObject({
      cachedTokens: 3,
      cacheWriteTokens: 2,
      reasoningTokens: 4,
      outputTokens: 4,
    });
  });

  it('adds thoughts that the upstream counted apart', () => {
    const usage = counts({ total_tokens: 34, completion_tokens_details: { reasoning_tokens: 20 } });
    expect(usageOf(chunk({ content: 'x' }, { usage }))).toMatchObject({
      outputTokens: 24,
      reasoningTokens: 20,
    });
  });

  const ZERO = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

  it('takes the last valid one', () => {
    const absurd = { prompt_tokens: -5, completion_tokens: 1e15 };
    const chunks = [ZERO, counts({}), counts({ prompt_tokens: 12 }), absurd].map((usage) =>
      chunk({ content: 'x' }, { usage }),
    );
    expect(usageOf(...chunks)).toMatchObject({ inputTokens: 12, outputTokens: 4, source: 'measured' });
  });

  // An answer that was counted has not become free because a server ends with an empty report.
  it('keeps counts that zeros follow, and takes what the zeros say of searches', () => {
    const chunks = [counts({}), ZERO, { ...ZERO, search_count: 2 }].map((usage) =>
      chunk({ content: 'x' }, { usage }),
    );
    expect(usageOf(...chunks)).toMatchObject({
      inputTokens: 10,
      outputTokens: 4,
      webSearchRequests: 2,
      source: 'measured',
    });
  });

  it('takes zeros where there is nothing else', () => {
    expect(usageOf(chunk({ content: 'x' }, { usage: ZERO }))).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
      source: 'measured',
    });
  });

  it('is absent when nothing valid was reported', () => {
    expect(usageOf(chunk({ content: 'x' }, { usage: { prompt_tokens: 'many' } }))).toBeUndefined();
  });
});

describe('the end', () => {
  const ends = (chunks: (JsonObject | string)[]) => decodeChunks(chunks).at(-1);

  it('needs no finish reason when the end marker came after something was said', () => {
    expect(ends([chunk({ content: 'x' }), DONE])).toMatchObject({ type: 'finish', reason: 'stop' });
  });

  it('needs no end marker after a finish reason', () => {
    expect(ends([chunk({ content: 'x' }), stop])).toMatchObject({ type: 'finish', reason: 'stop' });
  });

  it('is a failure when the bytes just stop, or nothing came', () => {
    expect(ends([chunk({ content: 'x' })])).toMatchObject({
      type: 'failure',
      error: { kind: 'upstream-unavailable' },
    });
    expect(ends([DONE])).toMatchObject({ type: 'failure' });
    expect(ends([])).toMatchObject({ type: 'failure' });
  });

  it.each([
    ['length', 'length'],
    ['model_length', 'length'],
    ['content_filter', 'content-filter'],
    ['eos', 'stop'],
  ])('reads %s', (word, reason) => {
    expect(ends([chunk({ content: 'x' }), chunk({}, {}, { finish_reason: word }), DONE])).toMatchObject({
      reason,
      nativeReason: word,
    });
  });

  it('leaves the item that was cut short incomplete', () => {
    const items = itemsOf([
      chunk({ content: 'x' }),
      call(0, { id: 'a' }, { name: 'f', arguments: '{"x' }),
      chunk({}, {}, { finish_reason: 'length' }),
      DONE,
    ]);
    expect(items).toMatchObject([{ status: 'completed' }, { status: 'incomplete' }]);
  });

  it.each([
    [{ code: 429, message: 'Slow\ndown' }, 'rate-limited', 'Slow down'],
    [{ type: 'overloaded_error', message: 'Busy' }, 'upstream-overloaded', 'Busy'],
    [{ message: 'Boom' }, 'upstream-unavailable', 'Boom'],
    ['Boom', 'upstream-unavailable', 'Boom'],
    [{}, 'upstream-unavailable', 'The provider reported an error'],
  ])('reads the error %j', (error, kind, message) => {
    const last = ends([chunk({ content: 'x' }), chunk({}, { error }), chunk({ content: 'more' }), DONE]);
    expect(last).toMatchObject({ type: 'failure', error: { kind, message } });
  });

  it('is final: nothing is read after it', () => {
    const events = decodeChunks([chunk({ content: 'x' }), stop, DONE, chunk({ content: 'y' }), DONE]);
    expect(events.filter(({ type }: Event) => type === 'finish' || type === 'failure')).toHaveLength(1);
    expect(fold(events).items).toMatchObject([{ content: [{ text: 'x' }] }]);
  });

  it('fails over a chunk that is broken, because it may have held part of the answer', () => {
    const last = ends([
      chunk({ content: 'AAA ' }),
      '{"choices":[{"delta":{"content":"BB',
      chunk({ content: 'CCC' }),
    ]);
    expect(last).toMatchObject({ type: 'failure', error: { kind: 'upstream-unavailable' } });
  });

  it('ignores a broken chunk after the finish reason', () => {
    expect(ends([chunk({ content: 'x' }), stop, '{"usage":', DONE])).toMatchObject({ type: 'finish' });
  });

  it('skips what it cannot read', () => {
    const odd = [
      'broken',
      '[1]',
      'null',
      { choices: 'none' },
      { choices: [null, 5, { index: 1, delta: { content: 'other choice' } }] },
      chunk({
        content: 5,
        tool_calls: [null, 'x', {}],
        annotations: 'no',
        images: [{}],
        reasoning_details: [5],
      }),
      chunk({ content: 'x' }),
    ];
    expect(itemsOf([...(odd as JsonObject[]), stop, DONE])).toMatchObject([{ content: [{ text: 'x' }] }]);
  });
});
