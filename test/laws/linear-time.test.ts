import { describe, expect, it } from 'vitest';
import type { ReplyContext } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import type { Event } from '../../src/ir/events.ts';
import { Fold } from '../../src/ir/folding/fold.ts';
import type { Format } from '../../src/ir/items.ts';
import type { GenerationRequest } from '../../src/ir/request.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { requestOf } from '../kit/builders/request.ts';

/**
 * What an answer costs grows with its length and not faster: an upstream that writes many small pieces must not be able
 * to hold the process. Work that looks back at every piece takes twice the limit or more at this size.
 */

const COUNT = 7_000;
/** Where two kinds of events meet. */
const HALF = COUNT / 2;
const LIMIT_MS = 1000;

const FORMATS: readonly Format[] = ['chat', 'messages', 'responses'];

function each<T>(make: (index: number) => T, count = COUNT): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Measures the processor's time: that of the wall also counts what else the machine does. */
function expectQuick(work: () => void): void {
  const before = process.cpuUsage();
  work();
  const { user } = process.cpuUsage(before);
  expect(user / 1000).toBeLessThan(LIMIT_MS);
}

function requestIn(format: Format): GenerationRequest {
  return requestOf({
    format,
    reasoning: { summary: 'auto' },
    tools: [{ type: 'custom', name: 'patch' }],
  });
}

function replyTo(request: GenerationRequest): ReplyContext {
  return {
    vendor: 'acme',
    request,
    generationId: 'gen-1',
    createdAtMs: 0,
    now: () => 0,
    model: 'acme/large',
    provider: 'Acme',
    serviceTier: 'default',
  };
}

// --- What upstreams send
// ---------------------------------------------------------------------------------------------------

const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...more,
  choices: [{ index: 0, delta }],
});
const call = (entry: JsonObject): JsonObject => chunk({ tool_calls: [entry] });
const blocks = (index: number, block: JsonObject, ...deltas: JsonObject[]): JsonObject[] => [
  { type: 'content_block_start', index, content_block: block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
];
const stop = (index: number): JsonObject => ({ type: 'content_block_stop', index });
const added = (index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index: index,
  item,
});

const OPEN_ARGUMENTS = `{"text":"${'x'.repeat(4_000_000)}`;

/** Streams by dialect; each is read as it is, relayed and translated. */
const STREAMS: Readonly<Record<Format, Readonly<Record<string, () => JsonObject[]>>>> = {
  chat: {
    'text in pieces': () => each(() => chunk({ content: 'x' })),
    'calls, each in an event': () =>
      each((index) => call({ index, id: `c${index}`, function: { name: 'f', arguments: '{' } })),
    'calls without an index': () =>
      each((index) => call({ id: `c${index}`, function: { name: 'f', arguments: '{}' } })),
    'calls, all in an event': () => [
      chunk({
        tool_calls: each((index) => ({ index, id: `c${index}`, function: { name: 'f', arguments: '' } })),
      }),
    ],
    'calls, then text': () => [
      ...each((index) => call({ index, id: `c${index}`, function: { name: 'f', arguments: '{' } }), HALF),
      ...each(() => chunk({ content: 'x' }), HALF),
    ],
    'whole calls, then seals': () => [
      ...each((index) => call({ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } }), HALF),
      ...each(
        (index) =>
          chunk({ reasoning_details: [{ type: 'reasoning.encrypted', id: `c${index}`, data: 'x' }] }),
        HALF,
      ),
    ],
    'a long call whose every piece looks like another': () => [
      call({ index: 0, id: 'c', function: { name: 'f', arguments: OPEN_ARGUMENTS } }),
      ...each((index) => call({ index: 0, id: `c${index}`, function: { name: 'f', arguments: 'x' } })),
    ],
    'a long call with text beside it': () => [
      call({ index: 0, id: 'c', function: { name: 'f', arguments: OPEN_ARGUMENTS } }),
      ...each(() => chunk({ content: 'x', tool_calls: [{ index: 0, function: { arguments: 'x' } }] })),
    ],
    'a call with new members in every piece': () => [
      call({ index: 0, id: 'c', function: { name: 'f', arguments: '' } }),
      ...each((index) => call({ index: 0, [`m${index}`]: 1 })),
    ],
    'new members in every chunk': () => each((index) => chunk({ content: 'x' }, { [`m${index}`]: 1 })),
    'audio in pieces': () => each((index) => chunk({ audio: { data: 'x', [`m${index}`]: 1 } })),
    'parts in turn': () => each((index) => chunk(index % 2 === 0 ? { content: 'x' } : { refusal: 'x' })),
    'thoughts, each a part': () =>
      each((index) => chunk({ reasoning_details: [{ type: 'reasoning.text', id: 'r', index, text: 'x' }] })),
  },
  messages: {
    'text in pieces': () => blocks(0, { type: 'text' }, ...each(() => ({ type: 'text_delta', text: 'x' }))),
    'text in blocks': () =>
      each((index) => [
        ...blocks(index, { type: 'text' }, { type: 'text_delta', text: 'x' }),
        stop(index),
      ]).flat(),
    'calls that do not stop': () =>
      each((index) => blocks(index, { type: 'tool_use', id: `c${index}`, name: 'f' })).flat(),
    'calls one after another': () =>
      each((index) => [
        ...blocks(index, { type: 'tool_use', id: `c${index}`, name: 'f' }),
        stop(index),
      ]).flat(),
    'a long call in pieces': () =>
      blocks(
        0,
        { type: 'tool_use', id: 'c', name: 'patch' },
        { type: 'input_json_delta', partial_json: OPEN_ARGUMENTS },
        ...each(() => ({ type: 'input_json_delta', partial_json: 'x' })),
      ),
    'citations in one block': () => [
      ...blocks(0, {
        type: 'text',
        text: 'x',
        citations: each((index) => ({ type: 'web_search_result_location', url: `https://e.com/${index}` })),
      }),
    ],
    'new members in every message_delta': () =>
      each((index) => ({ type: 'message_delta', delta: { [`m${index}`]: 1 }, usage: { [`m${index}`]: 1 } })),
  },
  responses: {
    'text in pieces': () => each(() => ({ type: 'response.output_text.delta', output_index: 0, delta: 'x' })),
    'text in parts': () =>
      each((index) => ({
        type: 'response.output_text.delta',
        output_index: 0,
        content_index: index,
        delta: 'x',
      })),
    'thoughts in parts': () =>
      each((index) => ({
        type: 'response.reasoning_text.delta',
        output_index: 0,
        content_index: index,
        delta: 'x',
      })),
    'messages that are not ended': () => each((index) => added(index, { type: 'message', id: `m${index}` })),
    'calls that are not ended': () =>
      each((index) =>
        added(index, { type: 'function_call', id: `f${index}`, call_id: `c${index}`, name: 'f' }),
      ),
    'one item after another, by turns': () => [
      added(0, { type: 'message' }),
      added(1, { type: 'reasoning' }),
      ...each((index) => ({
        type: index % 2 === 0 ? 'response.output_text.delta' : 'response.reasoning_text.delta',
        output_index: index % 2,
        delta: 'x',
      })),
    ],
    'text and annotations by turns': () =>
      each(
        (index) => [
          { type: 'response.output_text.delta', output_index: 0, delta: 'x'.repeat(100) },
          {
            type: 'response.output_text.annotation.added',
            output_index: 0,
            annotation: { type: 'url_citation', url: 'https://e.com', start_index: index, end_index: index },
          },
        ],
        HALF,
      ).flat(),
    'text and its end by turns': () =>
      each(
        () => [
          { type: 'response.output_text.delta', output_index: 0, delta: 'x'.repeat(100) },
          { type: 'response.output_text.done', output_index: 0, text: '' },
        ],
        HALF,
      ).flat(),
  },
};

describe.each(FORMATS)('a stream of an upstream that speaks %s', (format) => {
  const request = requestIn(format);

  function read(chunks: readonly JsonObject[], relay: boolean): Event[] {
    const decoder = DIALECTS[format].upstream.createDecoder({ request, relay });
    const events = chunks.flatMap((value) => decoder?.decode({ data: JSON.stringify(value) }) ?? []);
    return [...events, ...(decoder?.end() ?? [])];
  }

  it.each(Object.entries(STREAMS[format]))('is read in no time: %s', (_, make) => {
    const chunks = make();
    expectQuick(() => expect(read(chunks, false).length).toBeGreaterThan(0));
  });

  it.each(Object.entries(STREAMS[format]))('is relayed in no time: %s', (_, make) => {
    const chunks = make();
    const encoder = DIALECTS[format].inbound.createEncoder(replyTo(request));
    expectQuick(() => expect(encoder.encode(read(chunks, true))).not.toBe(''));
  });
});

// --- What the representation says
// --------------------------------------------------------------------------------------------

const message = (item: number): Event => ({ type: 'item-start', item, head: { type: 'message' } });
const part = (item: number, position: number, kind: 'text' | 'refusal' | 'thought' | 'summary'): Event[] => [
  { type: 'part-start', item, part: position, kind },
  { type: 'text-delta', item, part: position, kind, text: 'x' },
  { type: 'part-end', item, part: position, kind },
];
const toolCall = (item: number, kind: 'function' | 'custom' = 'function'): Event => ({
  type: 'item-start',
  item,
  head: { type: 'tool-call', kind, callId: `c${item}`, name: 'f' },
});
const end = (item: number): Event => ({ type: 'item-end', item, status: 'completed' });

const ANSWERS: Readonly<Record<string, () => Event[]>> = {
  'text in pieces': () => [
    message(0),
    ...each((): Event => ({ type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'x', logprobs: [{}] })),
    end(0),
  ],
  'text in parts': () => [message(0), ...each((index) => part(0, index, 'text')).flat(), end(0)],
  'thoughts in parts': () => [
    { type: 'item-start', item: 0, head: { type: 'reasoning' } },
    ...each((index) => part(0, index, 'thought')).flat(),
    end(0),
  ],
  'text and annotations by turns': () => [
    message(0),
    { type: 'part-start', item: 0, part: 0, kind: 'text' },
    ...each((index): Event[] => [
      { type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'x'.repeat(100) },
      {
        type: 'annotation',
        item: 0,
        part: 0,
        annotation: { type: 'url-citation', url: 'https://e.com', ...(index % 2 === 0 && { endIndex: 1 }) },
      },
    ]).flat(),
    { type: 'part-end', item: 0, part: 0, kind: 'text' },
    end(0),
  ],
  'calls one after another': () => each((index) => [toolCall(index), end(index)]).flat(),
  'calls side by side': () => [
    ...each((index) => toolCall(index)),
    ...each((index): Event => ({ type: 'tool-input-delta', item: index, text: '{}' })),
    ...each(end),
  ],
  'a call in pieces': () => [
    toolCall(0, 'custom'),
    ...each((): Event => ({ type: 'tool-input-delta', item: 0, text: 'x'.repeat(200) })),
    end(0),
  ],
};

describe.each(FORMATS)('an answer in the %s format', (format) => {
  const context = replyTo(requestIn(format));

  it.each(Object.entries(ANSWERS))('is streamed in no time: %s', (_, make) => {
    const encoder = DIALECTS[format].inbound.createEncoder(context);
    const events: Event[] = [...make(), { type: 'finish', reason: 'refusal' }];
    expectQuick(() => {
      for (const event of events) encoder.encode([event]);
    });
  });

  it.each(Object.entries(ANSWERS))('is written whole in no time: %s', (_, make) => {
    const result = new Fold().pushAll([...make(), { type: 'finish', reason: 'stop' }]).result();
    expectQuick(() => JSON.stringify(DIALECTS[format].inbound.encodeBody(result, context)));
  });
});
