import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RenderTarget, ReplyContext } from '../../src/dialects/dialect.ts';
import { responses } from '../../src/dialects/responses/index.ts';
import type { Event, FinishReason, PartKind } from '../../src/ir/events.ts';
import { terminalOf } from '../../src/ir/events.ts';
import { fold } from '../../src/ir/folding/fold.ts';
import type { Item, Part } from '../../src/ir/items.ts';
import type { GenerationRequest, Tool } from '../../src/ir/request.ts';
import type { Result } from '../../src/ir/result.ts';
import type { Usage } from '../../src/ir/usage.ts';
import type { Frame } from '../../src/kit/frames/frames.ts';
import { SseReader } from '../../src/kit/frames/sse.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { type Compact, compact } from '../../src/kit/json/members.ts';
import { compileValidator } from '../../src/kit/json/validate.ts';
import { withPairs } from '../kit/builders/with-pairs.ts';

const RUNS = { numRuns: 100 };
const VENDOR = 'signalbox';

const validator = compileValidator(responses.inbound.requestSchema(VENDOR));
const baseRequest = responses.inbound.parseRequest(
  { model: 'a/b', input: 'hi', stream: true },
  { vendor: VENDOR },
);
const target: RenderTarget = { model: 'a/b', hashUser: (id) => `hashed ${id}` };

const context: ReplyContext = {
  vendor: VENDOR,
  request: baseRequest,
  generationId: 'gen-1700000000-AbCdEf',
  createdAtMs: 1_700_000_000_000,
  now: () => 1_700_000_005_000,
  model: 'a/b',
  provider: 'Acme',
  serviceTier: 'default',
};

// Requests

const text = fc.string({ unit: 'binary', maxLength: 40 });
const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,15}$/);
const status = fc.constantFrom('completed' as const, 'incomplete' as const, 'in_progress' as const);
/** JSON knows no -0. */
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((value) => value + 0);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const present = <T extends object>(value: fc.Arbitrary<T>) =>
  value.map((object): Compact<T> => compact(object));

const source = fc.oneof(
  fc.webUrl().map((url) => ({ kind: 'url' as const, url })),
  fc
    .base64String({ minLength: 4, maxLength: 20 })
    .map((data) => ({ kind: 'base64' as const, mediaType: 'image/png', data })),
  word.map((id) => ({ kind: 'file-id' as const, fileId: `file-${id}` })),
);

const annotation = fc.record({
  type: fc.constant('url-citation' as const),
  url: fc.webUrl(),
  title: text,
  startIndex: fc.nat(50),
  endIndex: fc.nat(50),
});

const inputPart: fc.Arbitrary<Part> = fc.oneof(
  text.map((value): Part => ({ type: 'text', text: value })),
  present(
    fc.record({
      type: fc.constant('image' as const),
      source,
      detail: optional(fc.constantFrom('low', 'high')),
    }),
  ),
  fc.record({ type: fc.constant('file' as const), source, filename: word.map((name) => `${name}.pdf`) }),
  fc.record({
    type: fc.constant('audio' as const),
    data: fc.base64String({ minLength: 4 }),
    format: fc.constantFrom('mp3', 'wav'),
  }),
  fc.webUrl().map((url): Part => ({ type: 'video', url })),
);

const outputPart: fc.Arbitrary<Part> = fc.oneof(
  present(
    fc.record({
      type: fc.constant('text' as const),
      text,
      annotations: optional(fc.array(annotation, { minLength: 1, maxLength: 2 })),
    }),
  ),
  text.map((refusal): Part => ({ type: 'refusal', refusal })),
);

const item: fc.Arbitrary<Item> = fc.oneof(
  present(
    fc.record({
      type: fc.constant('message' as const),
      role: fc.constantFrom('user' as const, 'system' as const, 'developer' as const),
      content: fc.array(inputPart, { maxLength: 3 }),
    }),
  ),
  present(
    fc.record({
      type: fc.constant('message' as const),
      role: fc.constant('assistant' as const),
      content: fc.array(outputPart, { maxLength: 3 }),
      id: optional(word.map((id) => `msg_${id}`)),
      status: optional(status),
      phase: optional(fc.constantFrom('commentary', 'final_answer')),
    }),
  ),
  fc.record({
    type: fc.constant('reasoning' as const),
    id: word.map((id) => `rs_${id}`),
    text: fc.array(text, { maxLength: 2 }),
    summary: fc.array(text, { maxLength: 2 }),
    encrypted: fc.base64String({ minLength: 1 }),
    format: fc.constantFrom('openai-responses-v1'),
  }),
  present(
    fc.record({
      type: fc.constant('tool-call' as const),
      kind: fc.constantFrom('function' as const, 'custom' as const),
      callId: word,
      name: word,
      namespace: optional(word),
      input: text,
      status: optional(status),
    }),
  ),
  present(
    fc.record({
      type: fc.constant('tool-result' as const),
      kind: fc.constantFrom('function' as const, 'custom' as const),
      callId: word,
      content: fc.array(
        inputPart.filter((part) => ['text', 'image', 'file'].includes(part.type)),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    }),
  ),
  fc.record({
    type: fc.constant('image' as const),
    id: word.map((id) => `ig_${id}`),
    status: fc.constant('completed' as const),
    source: fc.record({
      kind: fc.constant('base64' as const),
      mediaType: fc.constantFrom('image/png', 'image/webp'),
      data: fc
        .base64String({ minLength: 4 })
        .filter((data) => !data.startsWith('data') && !data.startsWith('http')),
    }),
  }),
);

const parameters = fc.constant<JsonObject>({ type: 'object', properties: { a: { type: 'string' } } });
const tool: fc.Arbitrary<Tool> = fc.oneof(
  present(
    fc.record({
      type: fc.constant('function' as const),
      name: word,
      description: optional(text),
      parameters,
      strict: optional(fc.boolean()),
      namespace: optional(fc.record({ name: word, description: text })),
    }),
  ),
  present(
    fc.record({
      type: fc.constant('custom' as const),
      name: word,
      description: optional(text),
      format: optional(
        fc.constant<JsonObject>({ type: 'grammar', syntax: 'lark', definition: 'start: "a"' }),
      ),
    }),
  ),
  fc.constant<Tool>({
    type: 'hosted',
    dialect: 'responses',
    kind: 'web_search',
    value: { type: 'web_search', search_context_size: 'low' },
  }),
);

const request: fc.Arbitrary<GenerationRequest> = present(
  fc.record({
    items: fc
      .array(item, { minLength: 1, maxLength: 6 })
      .map(withPairs)
      .filter((items) => !items.every(saysNothing)),
    tools: fc.array(tool, { maxLength: 4 }),
    toolChoice: optional(fc.constantFrom({ mode: 'auto' as const }, { mode: 'none' as const })),
    parallelToolCalls: optional(fc.boolean()),
    sampling: present(
      fc.record({
        temperature: optional(number(0, 2)),
        topP: optional(number(0, 1)),
        frequencyPenalty: optional(number(-2, 2)),
        presencePenalty: optional(number(-2, 2)),
        topLogprobs: optional(fc.nat(20)),
      }),
    ),
    requestedOutputTokens: optional(fc.integer({ min: 1, max: 100_000 })),
    reasoning: optional(
      present(
        fc.record({
          effort: fc.constantFrom('low' as const, 'high' as const, 'none' as const),
          summary: optional(fc.constantFrom('auto', 'detailed')),
        }),
      ),
    ),
    outputFormat: optional(
      fc.oneof(
        fc.constant({ type: 'text' as const }),
        fc.constant({ type: 'json' as const }),
        present(
          fc.record({
            type: fc.constant('json-schema' as const),
            name: word,
            schema: parameters,
            strict: optional(fc.boolean()),
          }),
        ),
      ),
    ),
    verbosity: optional(fc.constantFrom('low', 'high')),
    promptCacheKey: optional(text),
    serviceTier: optional(fc.constantFrom('auto', 'flex', 'priority')),
    metadata: optional(fc.dictionary(word, text, { maxKeys: 4 })),
    truncation: optional(fc.constantFrom('auto' as const, 'disabled' as const)),
    include: optional(fc.constantFrom(['reasoning.encrypted_content'], ['file_search_call.results'])),
    stream: fc.boolean(),
  }),
).map((fields) => ({ ...baseRequest, ...fields, body: { store: false } }) as GenerationRequest);

const MODELLED = [
  'items',
  'tools',
  'toolChoice',
  'parallelToolCalls',
  'sampling',
  'requestedOutputTokens',
  'reasoning',
  'outputFormat',
  'verbosity',
  'promptCacheKey',
  'serviceTier',
  'metadata',
  'truncation',
  'include',
  'stream',
] as const satisfies (keyof GenerationRequest)[];

/**
 * A conversation of such items alone is refused. A system prompt in front becomes `instructions`, which do not count.
 */
function saysNothing(one: Item): boolean {
  if (one.type !== 'message') return false;
  return one.role === 'system' || one.content.every((part) => part.type === 'text' && part.text === '');
}

function modelled(of: GenerationRequest) {
  return Object.fromEntries(MODELLED.map((name) => [name, of[name]]));
}

describe('requests', () => {
  it('parse(render(request)) = request, and what is rendered is valid', () => {
    fc.assert(
      fc.property(request, (original) => {
        const { body, report } = responses.upstream.renderRequest(original, target);
        expect(report).toEqual([]);
        const sent = JSON.parse(JSON.stringify(body)) as JsonObject;
        expect(validator.issuesOf(sent)).toEqual([]);
        expect(sent.store).toBe(false);
        const parsed = responses.inbound.parseRequest(sent, { vendor: VENDOR });
        expect(modelled(parsed)).toEqual(modelled(original));
      }),
      RUNS,
    );
  });

  it('a relayed body is the caller’s own, but for model, store and hashed ids', () => {
    fc.assert(
      fc.property(
        request,
        text.filter((id) => id.length > 0 && id.length <= 256),
        (original, user) => {
          const { body } = responses.upstream.renderRequest(original, target);
          const callers = {
            ...(JSON.parse(JSON.stringify(body)) as JsonObject),
            user,
            provider: { zdr: true },
          };
          const parsed = responses.inbound.parseRequest(callers, { vendor: VENDOR });
          const relayed = responses.upstream.renderRelay(parsed, { ...target, model: 'upstream-name' });
          const { provider: _provider, ...rest } = callers;
          expect(relayed.body).toEqual({
            ...rest,
            model: 'upstream-name',
            store: false,
            user: `hashed ${user}`,
          });
        },
      ),
      RUNS,
    );
  });
});

// Answers

interface Script {
  readonly events: Event[];
  readonly reason: FinishReason;
}

const pieces = fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }), { maxLength: 4 });

function partEvents(index: number, part: number, kind: PartKind, texts: readonly string[]): Event[] {
  return [
    { type: 'part-start', item: index, part, kind },
    ...texts.map((value): Event => ({ type: 'text-delta', item: index, part, kind, text: value })),
    { type: 'part-end', item: index, part, kind },
  ];
}

type Draft = (index: number) => Event[];

const message: fc.Arbitrary<Draft> = fc
  .array(
    fc.record({
      kind: fc.constantFrom('text' as const, 'refusal' as const),
      pieces,
      annotation: optional(annotation),
    }),
    {
      maxLength: 3,
    },
  )
  .map((parts) => (index: number): Event[] => [
    { type: 'item-start', item: index, head: { type: 'message', phase: 'commentary' } },
    ...parts.flatMap((part, place): Event[] => {
      const events = partEvents(index, place, part.kind, part.pieces);
      if (part.annotation === undefined || part.kind !== 'text') return events;
      events.splice(-1, 0, { type: 'annotation', item: index, part: place, annotation: part.annotation });
      return events;
    }),
    { type: 'item-end', item: index, status: 'completed' },
  ]);

const seal = fc.oneof(
  fc.base64String({ minLength: 1 }).map((encrypted) => ({ encrypted, format: 'openai-responses-v1' })),
  fc.base64String({ minLength: 1 }).map((signature) => ({ signature, format: 'anthropic-claude-v1' })),
  fc.base64String({ minLength: 1 }).map((encrypted) => ({ encrypted, format: 'anthropic-claude-v1' })),
  fc.base64String({ minLength: 1 }).map((encrypted) => ({
    encrypted,
    format: 'openai-responses-v1',
    givenBy: 'chat' as const,
  })),
);

const reasoning: fc.Arbitrary<Draft> = fc
  .record({
    thoughts: fc.array(pieces, { maxLength: 2 }),
    summaries: fc.array(pieces, { maxLength: 2 }),
    seal: optional(seal),
  })
  .map((drawn) => (index: number): Event[] => [
    { type: 'item-start', item: index, head: { type: 'reasoning' } },
    ...drawn.summaries.flatMap((texts, part) => partEvents(index, part, 'summary', texts)),
    ...drawn.thoughts.flatMap((texts, part) => partEvents(index, part, 'thought', texts)),
    ...(drawn.seal === undefined ? [] : [{ type: 'seal', item: index, seal: drawn.seal } as const]),
    { type: 'item-end', item: index, status: 'completed' },
  ]);

const image: fc.Arbitrary<Draft> = fc
  .base64String({ minLength: 4 })
  .map((data) => (index: number): Event[] => [
    { type: 'item-start', item: index, head: { type: 'image' } },
    {
      type: 'image-data',
      item: index,
      source: { kind: 'base64', mediaType: 'image/png', data: `iVBOR${data}` },
    },
    { type: 'item-end', item: index, status: 'completed' },
  ]);

const call = fc.record({
  kind: fc.constantFrom('function' as const, 'custom' as const),
  callId: word,
  name: word,
  namespace: optional(word),
  pieces,
});

/** One or two calls whose input comes interleaved. */
const calls = fc.array(call, { minLength: 1, maxLength: 2 }).map((drawn) => (index: number): Event[] => {
  const longest = Math.max(...drawn.map((one) => one.pieces.length));
  const rounds = Array.from({ length: longest }, (_, round) =>
    drawn.flatMap((one, place): Event[] => {
      const piece = one.pieces[round];
      return piece === undefined ? [] : [{ type: 'tool-input-delta', item: index + place, text: piece }];
    }),
  );
  return [
    ...drawn.map(
      ({ pieces: _pieces, ...head }, place): Event => ({
        type: 'item-start',
        item: index + place,
        head: compact({ type: 'tool-call', ...head }),
      }),
    ),
    ...rounds.flat(),
    // A function always has arguments.
    ...drawn.flatMap((one, place): Event[] =>
      one.kind === 'function' && one.pieces.join('') === ''
        ? [{ type: 'tool-input-delta', item: index + place, text: '{}' }]
        : [],
    ),
    ...drawn.map((_one, place): Event => ({ type: 'item-end', item: index + place, status: 'completed' })),
  ];
});

const usage: fc.Arbitrary<Usage> = fc
  .record({
    input: fc.nat(10_000),
    output: fc.nat(10_000),
    share: fc.double({ min: 0, max: 0.5, noNaN: true }),
  })
  .map(({ input, output, share }) => ({
    inputTokens: input,
    cachedTokens: Math.floor(input * share),
    cacheWriteTokens: Math.floor(input * share),
    cacheWrite1hTokens: 0,
    outputTokens: output,
    reasoningTokens: Math.floor(output * share),
    imageTokens: 0,
    webSearchRequests: Math.floor(share * 10),
    source: 'measured',
  }));

const script: fc.Arbitrary<Script> = fc
  .record({
    drafts: fc.array(fc.oneof(message, reasoning, image, calls), { maxLength: 5 }),
    usage,
    cut: fc.boolean(),
  })
  .map(({ drafts, usage: counts, cut }) => {
    const events: Event[] = [{ type: 'start' }];
    let index = 0;
    for (const draft of drafts) {
      const made = draft(index);
      events.push(...made);
      index += made.filter((event) => event.type === 'item-start').length;
    }
    const isCall = (event: Event) => event.type === 'item-start' && event.head.type === 'tool-call';
    const isRefusal = (event: Event) => event.type === 'part-start' && event.kind === 'refusal';
    const natural = events.some(isCall) ? 'tool-calls' : events.some(isRefusal) ? 'refusal' : 'stop';
    const reason: FinishReason = cut ? 'length' : natural;
    events.push({ type: 'usage', usage: counts }, { type: 'finish', reason });
    return { events, reason };
  });

/** Sends events to the encoder as the gateway does: the terminal comes alone, after everything else, settled. */
function encodeAll(events: readonly Event[]): Buffer {
  const encoder = responses.inbound.createEncoder(context);
  const counts = fold(events).usage;
  const bill = { totalNanos: 1_500n, inputNanos: 500n, outputNanos: 1_000n, isByok: false };
  let written = '';
  for (const event of events) {
    const terminal = terminalOf(event);
    if (terminal === undefined || event.type === 'relay') written += encoder.encode([event]);
    if (terminal === undefined) continue;
    const settled = counts === undefined ? undefined : { usage: counts, bill };
    written += encoder.encode([{ ...terminal, settled }]);
  }
  return Buffer.from(written);
}

function decodeAll(frames: readonly Frame[], relay = false): Event[] {
  const decoder = responses.upstream.createDecoder({ request: baseRequest, relay });
  return [...frames.flatMap((frame) => decoder.decode(frame)), ...decoder.end()];
}

function framesOf(bytes: Buffer, cuts: readonly number[] = []): Frame[] {
  const reader = new SseReader();
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b);
  const frames = places.slice(1).flatMap((end, index) => reader.push(bytes.subarray(places[index], end)));
  return [...frames, ...reader.end()];
}

/** What two folded answers must agree in: everything but the ids that the encoder makes. */
function comparable(result: Result) {
  return {
    items: result.items.map((one) => ({ ...one, id: undefined })),
    usage: result.usage,
    reason: result.finish?.reason,
    failure: result.failure?.message,
  };
}

describe('answers', () => {
  it('decode(encode(events)) = events, folded', () => {
    fc.assert(
      fc.property(script, ({ events }) => {
        const again = fold(decodeAll(framesOf(encodeAll(events))));
        expect(comparable(again)).toEqual(comparable(fold(events)));
      }),
      RUNS,
    );
  });

  it('a whole body means the same as the stream', () => {
    fc.assert(
      fc.property(script, ({ events }) => {
        const body = responses.inbound.encodeBody(fold(events), context);
        const read = responses.upstream.decodeBody(JSON.parse(JSON.stringify(body)) as JsonObject, {
          request: baseRequest,
          relay: false,
        });
        expect(comparable(fold(read))).toEqual(comparable(fold(events)));
      }),
      RUNS,
    );
  });

  it('any split of the bytes gives the same frames and the same answer', () => {
    fc.assert(
      fc.property(script, fc.array(fc.nat(100_000), { maxLength: 30 }), ({ events }, cuts) => {
        const bytes = encodeAll(events);
        const split = framesOf(bytes, cuts);
        expect(split).toEqual(framesOf(bytes));
        expect(comparable(fold(decodeAll(split)))).toEqual(comparable(fold(events)));
      }),
      RUNS,
    );
  });

  it('relay = translate, folded', () => {
    fc.assert(
      fc.property(script, ({ events }) => {
        const frames = framesOf(encodeAll(events));
        const relayed = decodeAll(frames, true);
        expect(relayed.every((event) => event.type === 'relay')).toBe(true);
        expect(relayed.length).toBe(frames.length - 1);
        const translated = decodeAll(frames);
        expect(comparable(fold(relayed))).toEqual(comparable(fold(translated)));
        const again = fold(decodeAll(framesOf(encodeAll(relayed))));
        expect(comparable(again)).toEqual(comparable(fold(decodeAll(framesOf(encodeAll(translated))))));
      }),
      RUNS,
    );
  });

  it('every stream is numbered without a gap, keeps its ids, and ends with the marker', () => {
    fc.assert(
      fc.property(script, ({ events, reason }) => {
        const frames = framesOf(encodeAll(events));
        expect(frames.at(-1)).toEqual({ data: '[DONE]' });
        const values = frames.slice(0, -1).map((frame) => JSON.parse(frame.data) as JsonObject);
        expect(values.map((value) => value.sequence_number)).toEqual(values.map((_, index) => index));
        expect(frames.slice(0, -1).map((frame) => frame.event)).toEqual(values.map((value) => value.type));
        const ids = new Map<unknown, unknown>();
        for (const value of values) {
          const id = (value.item as JsonObject | undefined)?.id ?? value.item_id;
          if (value.type === 'response.output_item.added') ids.set(value.output_index, id);
          else if (id !== undefined) expect(id).toBe(ids.get(value.output_index));
        }
        const last = values.at(-1)?.response as JsonObject;
        expect((last.output as JsonObject[]).map((one) => one.id)).toEqual([...ids.values()]);
        expect(last.status).toBe(reason === 'length' ? 'incomplete' : 'completed');
      }),
      RUNS,
    );
  });
});

// Upstreams that do not keep to the format

const loose = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) });

const looseItem = fc.record(
  {
    type: loose(
      fc.constantFrom(
        'message',
        'reasoning',
        'function_call',
        'custom_tool_call',
        'image_generation_call',
        'x',
      ),
    ),
    id: loose(word),
    call_id: loose(word),
    name: loose(word),
    arguments: loose(text),
    result: loose(text),
    status: loose(fc.constantFrom('completed', 'incomplete', 'in_progress')),
    encrypted_content: loose(text),
    summary: loose(fc.array(fc.record({ type: fc.constant('summary_text'), text }), { maxLength: 2 })),
    content: loose(
      fc.array(
        fc.record({ type: fc.constantFrom('output_text', 'refusal', 'reasoning_text'), text, refusal: text }),
        {
          maxLength: 2,
        },
      ),
    ),
  },
  { requiredKeys: ['type'] },
);

const looseEvent = fc.record(
  {
    type: fc.constantFrom(
      'response.created',
      'response.output_item.added',
      'response.output_item.done',
      'response.content_part.added',
      'response.content_part.done',
      'response.reasoning_summary_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.output_text.annotation.added',
      'response.refusal.delta',
      'response.reasoning_text.delta',
      'response.reasoning_summary_text.delta',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.web_search_call.searching',
      'response.image_generation_call.partial_image',
    ),
    output_index: loose(fc.nat(2)),
    item_id: loose(word),
    content_index: loose(fc.nat(2)),
    summary_index: loose(fc.nat(2)),
    delta: loose(text),
    text: loose(text),
    annotation: loose(fc.record({ type: fc.constant('url_citation'), url: fc.webUrl() })),
    part: loose(
      fc.record({ type: fc.constantFrom('output_text', 'refusal', 'reasoning_text', 'summary_text'), text }),
    ),
    item: looseItem,
    response: loose(fc.record({ id: loose(word), usage: fc.jsonValue({ maxDepth: 1 }) })),
  },
  { requiredKeys: ['type'] },
);

const looseEnd = fc.option(
  fc.record({
    type: fc.constantFrom('response.completed', 'response.incomplete', 'response.failed', 'error'),
    response: loose(
      fc.record({ output: fc.array(looseItem, { maxLength: 3 }), usage: fc.jsonValue({ maxDepth: 1 }) }),
    ),
  }),
  { nil: undefined },
);

describe('upstreams that do not keep to the format', () => {
  it('never make a decoder or encoder throw, end exactly once, and close what they open', () => {
    fc.assert(
      fc.property(fc.array(looseEvent, { maxLength: 25 }), looseEnd, fc.boolean(), (wire, end, relay) => {
        const values = end === undefined ? wire : [...wire, end];
        const events = decodeAll(
          values.map((value) => ({ data: JSON.stringify(value) })),
          relay,
        );
        expect(events.filter((event) => terminalOf(event) !== undefined)).toHaveLength(1);
        const flat = events.flatMap((event) => (event.type === 'relay' ? event.events : [event]));
        if (flat.at(-1)?.type === 'finish') {
          const count = (type: Event['type']) => flat.filter((event) => event.type === type).length;
          expect(count('item-end')).toBe(count('item-start'));
          expect(count('part-end')).toBe(count('part-start'));
        }
        const written = framesOf(encodeAll(events))
          .slice(0, -1)
          .map((frame) => JSON.parse(frame.data) as JsonObject);
        expect(written.map((value) => value.sequence_number)).toEqual(written.map((_, index) => index));
        const added = written.filter((value) => value.type === 'response.output_item.added');
        expect(new Set(added.map((value) => value.output_index)).size).toBe(added.length);
      }),
      { numRuns: 300 },
    );
  });
});
