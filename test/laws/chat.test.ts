import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chat } from '../../src/dialects/chat/index.ts';
import type { RenderTarget } from '../../src/dialects/dialect.ts';
import type { Event, Finish, FinishReason, PartKind, Seal } from '../../src/ir/events.ts';
import { fold } from '../../src/ir/folding/fold.ts';
import type { Item, ItemStatus, Part } from '../../src/ir/items.ts';
import type { GenerationRequest, Tool } from '../../src/ir/request.ts';
import type { Result } from '../../src/ir/result.ts';
import type { Usage } from '../../src/ir/usage.ts';
import type { Frame } from '../../src/kit/frames/frames.ts';
import { SseReader } from '../../src/kit/frames/sse.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { compileValidator } from '../../src/kit/json/validate.ts';
import {
  decodeFrames,
  encodeEvents,
  readFrames,
  replyTo,
  requestWith,
  settledWith,
} from '../kit/fixtures/chat/chat-fixture.ts';

const RUNS = { numRuns: 100 };

// --- Arbitrary text
// ----------------------------------------------------------------------------------------------------

const someText = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
  fc.constantFrom('a\n\ndata: {}\n\n', '\r\n', '\u2028', '\u0000', '"', '\ud800', '[DONE]', ': x', 'é😀'),
);
const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/);
const base64 = fc.stringMatching(/^([A-Za-z0-9+/]{4}){1,3}$/);
const mark = fc.constantFrom({}, { ttl: '5m' as const }, { ttl: '1h' as const });
const schema = fc.constantFrom<JsonObject>({}, { type: 'object', properties: { x: { type: 'number' } } });

function optionally<K extends string, T>(name: K, value: fc.Arbitrary<T>): fc.Arbitrary<{ [P in K]?: T }> {
  return fc
    .option(value, { nil: undefined })
    .map((given) => (given === undefined ? {} : { [name]: given })) as fc.Arbitrary<{ [P in K]?: T }>;
}

function merged(...parts: fc.Arbitrary<object>[]): fc.Arbitrary<object> {
  return fc.tuple(...parts).map((objects) => Object.assign({}, ...objects));
}

// --- Requests
// --------------------------------------------------------------------------------------------------------------

const textPart: fc.Arbitrary<Part> = merged(
  fc.record({ type: fc.constant('text'), text: someText }),
  optionally('cache', mark),
) as fc.Arbitrary<Part>;

const userPart: fc.Arbitrary<Part> = fc.oneof(
  { weight: 3, arbitrary: textPart },
  merged(
    fc.record({
      type: fc.constant('image'),
      source: fc.oneof(
        fc.record({ kind: fc.constant('url'), url: word.map((name) => `https://example.com/${name}`) }),
        fc.record({ kind: fc.constant('base64'), mediaType: fc.constant('image/png'), data: base64 }),
      ),
    }),
    optionally('detail', fc.constantFrom('low', 'high')),
  ),
  fc.record({
    type: fc.constant('file'),
    source: fc.record({
      kind: fc.constant('base64'),
      mediaType: fc.constant('application/pdf'),
      data: base64,
    }),
    filename: word,
  }),
  fc.record({ type: fc.constant('audio'), data: base64, format: fc.constantFrom('mp3', 'wav') }),
  fc.record({ type: fc.constant('video'), url: fc.constant('https://example.com/v') }),
) as fc.Arbitrary<Part>;

const plainMessage: fc.Arbitrary<Item[]> = fc
  .oneof(
    merged(
      fc.record({
        type: fc.constant('message'),
        role: fc.constant('user'),
        content: fc.array(userPart, { minLength: 1, maxLength: 3 }),
      }),
      optionally(
        'ext',
        word.map((name) => ({ chat: { name } })),
      ),
    ),
    fc.record({
      type: fc.constant('message'),
      role: fc.constantFrom('system', 'developer'),
      content: fc.array(textPart, { minLength: 1, maxLength: 2 }),
    }),
  )
  .map((item) => [item as Item]);

/** Chat upstreams pass on what any family sealed. */
const format = fc.constantFrom('acme-v1', 'anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1');

/** Thoughts that a chat upstream gave. Only an id can hold several parts together. */
const sealedThoughts = fc
  .record({
    hasId: fc.boolean(),
    text: fc.array(someText, { maxLength: 2 }),
    summary: fc.array(someText, { maxLength: 2 }),
    encrypted: fc.option(base64, { nil: undefined }),
    signature: base64,
    format,
  })
  .map(({ hasId, text, summary, encrypted, signature, format }) => ({
    type: 'reasoning' as const,
    ...(hasId && { id: 'to be numbered' }),
    text: hasId ? text : text.slice(0, 1),
    summary: hasId ? summary : [],
    signature,
    ...(encrypted !== undefined && { encrypted }),
    format,
    givenBy: 'chat' as const,
  }));

interface Call {
  readonly name: string;
  readonly input: string;
  readonly signature: string | undefined;
  readonly result: Part[];
}

const call: fc.Arbitrary<Call> = fc.record({
  name: word,
  input: fc.oneof(fc.json({ maxDepth: 1 }), fc.constantFrom('', '{"broken')),
  signature: fc.option(base64, { nil: undefined }),
  result: fc.array(textPart, { minLength: 1, maxLength: 2 }),
});

/** Calls of a conversation: arguments that are no JSON object are sent in one. */
const callOfTurn = fc
  .record({ made: call, given: fc.dictionary(word, fc.nat(), { maxKeys: 3 }) })
  .map(({ made, given }): Call => ({ ...made, input: JSON.stringify(given) }));

const assistantTurn: fc.Arbitrary<Item[]> = fc
  .record({
    thoughts: fc.array(sealedThoughts, { maxLength: 2 }),
    content: fc.array(textPart, { maxLength: 2 }),
    refusal: fc.option(someText, { nil: undefined }),
    calls: fc.array(callOfTurn, { maxLength: 2 }),
  })
  .filter(({ content, calls }) => content.length + calls.length > 0)
  .map(({ thoughts, content, refusal, calls }) => {
    const parts: Part[] = refusal === undefined ? content : [...content, { type: 'refusal', refusal }];
    const results = calls.map(
      ({ result }): Item => ({ type: 'tool-result', kind: 'function', callId: '', content: result }),
    );
    return [
      ...thoughts,
      ...(content.length > 0 ? [{ type: 'message', role: 'assistant', content: parts } as const] : []),
      ...calls.map(
        ({ name, input, signature }): Item => ({
          type: 'tool-call',
          kind: 'function',
          callId: '',
          name,
          input,
          ...(signature !== undefined && {
            signature,
            signatureFormat: 'google-gemini-v1',
            signatureGivenBy: 'chat',
          }),
        }),
      ),
      ...results,
    ];
  });

/** Gives calls, results and reasoning unique ids that pair them. */
function numbered(items: readonly Item[]): Item[] {
  let calls = 0;
  let results = 0;
  return items.map((item, position) => {
    if (item.type === 'tool-call') return { ...item, callId: `call_${calls++}` };
    if (item.type === 'tool-result') return { ...item, callId: `call_${results++}` };
    return item.type === 'reasoning' && item.id !== undefined ? { ...item, id: `rs_${position}` } : item;
  });
}

const conversation = fc
  .array(fc.oneof(plainMessage, assistantTurn), { minLength: 1, maxLength: 5 })
  .map((turns) => numbered(turns.flat()));

const tool: fc.Arbitrary<Tool> = merged(
  fc.record({ type: fc.constant('function'), name: word }),
  optionally('description', word),
  optionally('parameters', schema),
  optionally('strict', fc.boolean()),
) as fc.Arbitrary<Tool>;

const settings = merged(
  optionally('requestedOutputTokens', fc.integer({ min: 1, max: 1e6 })),
  optionally('reasoning', fc.record({ effort: fc.constantFrom('low', 'high', 'none') })),
  optionally(
    'outputFormat',
    fc.oneof(
      fc.constant({ type: 'json' }),
      merged(
        fc.record({ type: fc.constant('json-schema'), name: word, schema }),
        optionally('strict', fc.boolean()),
      ),
    ),
  ),
  optionally('verbosity', fc.constantFrom('low', 'high')),
  optionally('modalities', fc.constant(['text', 'image'])),
  optionally('imageConfig', fc.constant({ size: '1K' })),
  optionally('promptCacheKey', word),
  optionally('serviceTier', fc.constantFrom('flex', 'priority')),
  optionally('user', word),
  optionally('metadata', fc.constant({ team: 'blue' })),
  fc.record({ stream: fc.boolean() }),
) as fc.Arbitrary<Partial<GenerationRequest>>;

const sampling = merged(
  optionally('temperature', fc.double({ min: 0, max: 2, noNaN: true })),
  optionally('topK', fc.integer({ min: 0, max: 100 })),
  optionally('minP', fc.double({ min: 0, max: 1, noNaN: true })),
  optionally('seed', fc.integer()),
  optionally('stop', fc.array(word, { minLength: 1, maxLength: 4 })),
  fc.oneof(fc.constant({}), fc.constant({ logprobs: true, topLogprobs: 3 })),
);

const generationRequest: fc.Arbitrary<GenerationRequest> = fc
  .record({ items: conversation, tools: fc.array(tool, { maxLength: 2 }), settings, sampling })
  .chain(({ items, tools, settings, sampling }) => {
    const name = tools[0]?.type === 'function' ? tools[0].name : undefined;
    const choices =
      name === undefined
        ? fc.constant({})
        : merged(
            optionally(
              'toolChoice',
              fc.constantFrom<object>(
                { mode: 'auto' },
                { mode: 'required' },
                { mode: 'tool', kind: 'function', name },
                { mode: 'allowed', required: true, tools: [{ type: 'function', name }] },
              ),
            ),
            optionally('parallelToolCalls', fc.boolean()),
          );
    return choices.map((chosen) => ({ ...requestWith(), items, tools, sampling, ...settings, ...chosen }));
  });

/** Everything is taken, and end-user ids are shown, so that nothing is lost on the way. */
const GENEROUS: RenderTarget = {
  model: 'a/b',
  hashUser: (id) => id,
  supportedParameters: new Set(
    (
      'temperature top_k min_p seed stop logprobs top_logprobs max_tokens response_format structured_outputs tools ' +
      'tool_choice parallel_tool_calls reasoning verbosity cache_control metadata'
    ).split(' '),
  ),
};

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
  'modalities',
  'imageConfig',
  'promptCacheKey',
  'serviceTier',
  'user',
  'metadata',
  'stream',
] as const;

function modelled(request: GenerationRequest): object {
  return Object.fromEntries(MODELLED.map((field) => [field, request[field]]));
}

// --- Answers
// -------------------------------------------------------------------------------------------------------------

interface SaidReasoning {
  readonly id: string | undefined;
  readonly thoughts: string[][];
  readonly summaries: string[][];
  readonly seal: Seal | undefined;
}

interface Said {
  readonly reasoning: SaidReasoning[];
  readonly text: string[];
  readonly refusal: string[];
  readonly hasLogprobs: boolean;
  readonly hasCitation: boolean;
  readonly images: string[];
  readonly calls: { name: string; pieces: string[]; signature: string | undefined }[];
  readonly isInterleaved: boolean;
  readonly isCut: boolean;
  readonly usage: Usage;
}

const pieces = fc.array(someText, { minLength: 1, maxLength: 3 });

const saidReasoning: fc.Arbitrary<SaidReasoning> = fc
  .record({
    hasId: fc.boolean(),
    thoughts: fc.array(pieces, { maxLength: 2 }),
    summaries: fc.array(pieces, { maxLength: 2 }),
    seal: fc.option(
      merged(
        fc.record({ format, givenBy: fc.constant('chat') }),
        fc.oneof(fc.record({ signature: base64 }), fc.record({ encrypted: base64 })),
      ) as fc.Arbitrary<SaidReasoning['seal']>,
      { nil: undefined },
    ),
  })
  .filter(({ thoughts, seal }) => thoughts.length > 0 || seal !== undefined)
  .map(({ hasId, thoughts, summaries, seal }) => ({
    id: hasId ? 'to be numbered' : undefined,
    thoughts: hasId ? thoughts : thoughts.slice(0, 1),
    summaries: hasId ? summaries : [],
    seal,
  }));

const usage: fc.Arbitrary<Usage> = fc
  .tuple(fc.nat(1e6), fc.nat(1e6), fc.nat(1e6), fc.nat(1e6), fc.nat(1e6), fc.nat(5))
  .map(([cached, written, fresh, thought, spoken, searches]) => ({
    inputTokens: cached + written + fresh,
    cachedTokens: cached,
    cacheWriteTokens: written,
    cacheWrite1hTokens: 0,
    outputTokens: thought + spoken,
    reasoningTokens: thought,
    imageTokens: 0,
    webSearchRequests: searches,
    source: 'measured',
  }));

const said: fc.Arbitrary<Said> = fc
  .record({
    reasoning: fc.array(saidReasoning, { maxLength: 2 }),
    text: fc.array(someText, { maxLength: 4 }),
    refusal: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, pieces),
    hasLogprobs: fc.boolean(),
    hasCitation: fc.boolean(),
    images: fc.array(base64, { maxLength: 2 }),
    calls: fc.array(
      fc.record({
        name: word,
        pieces,
        signature: fc.option(base64, { nil: undefined }),
      }),
      { maxLength: 3 },
    ),
    isInterleaved: fc.boolean(),
    isCut: fc.boolean(),
    usage,
  })
  .filter(({ text, refusal, calls, images, reasoning }) =>
    [text, refusal, calls, images, reasoning].some((list) => list.length > 0),
  );

/** The events of an answer, as a decoder of any dialect might give them. */
function eventsOf(answer: Said): Event[] {
  const events: Event[] = [{ type: 'start', upstreamId: 'x', upstreamModel: 'y' }];
  let item = 0;
  const hasMessage = answer.text.length + answer.refusal.length > 0;
  const isLast = (...later: readonly unknown[][]) => later.every((list) => list.length === 0);
  const status = (isCutHere: boolean): ItemStatus => (answer.isCut && isCutHere ? 'incomplete' : 'completed');
  const part = (number: number, kind: PartKind, texts: readonly string[]) => {
    events.push({ type: 'part-start', item, part: number, kind });
    for (const text of texts) {
      const logprobs =
        kind === 'text' && answer.hasLogprobs ? { logprobs: [{ token: text, logprob: -1 }] } : {};
      events.push({ type: 'text-delta', item, part: number, kind, text, ...logprobs });
    }
    if (kind === 'text' && answer.hasCitation) {
      const annotation = {
        type: 'url-citation',
        url: 'https://x.y',
        title: 'X',
        startIndex: 0,
        endIndex: 1,
      } as const;
      events.push({ type: 'annotation', item, part: number, annotation });
    }
    events.push({ type: 'part-end', item, part: number, kind });
  };
  answer.reasoning.forEach((thought, at) => {
    const id = thought.id === undefined ? {} : { id: `rs_${at}` };
    events.push({ type: 'item-start', item, head: { type: 'reasoning', ...id } });
    thought.thoughts.forEach((texts, number) => {
      part(number, 'thought', texts);
    });
    thought.summaries.forEach((texts, number) => {
      part(number, 'summary', texts);
    });
    if (thought.seal !== undefined) events.push({ type: 'seal', item, seal: thought.seal });
    const isCutHere =
      at === answer.reasoning.length - 1 && !hasMessage && isLast(answer.images, answer.calls);
    events.push({ type: 'item-end', item, status: status(isCutHere) });
    item++;
  });
  if (hasMessage) {
    events.push({ type: 'item-start', item, head: { type: 'message' } });
    if (answer.text.length > 0) part(0, 'text', answer.text);
    if (answer.refusal.length > 0) part(answer.text.length > 0 ? 1 : 0, 'refusal', answer.refusal);
    events.push({ type: 'item-end', item, status: status(isLast(answer.images, answer.calls)) });
    item++;
  }
  for (const data of answer.images) {
    events.push(
      { type: 'item-start', item, head: { type: 'image' } },
      { type: 'image-data', item, source: { kind: 'base64', mediaType: 'image/png', data } },
      { type: 'item-end', item, status: 'completed' },
    );
    item++;
  }
  events.push(...callEvents(answer, item, status));
  events.push({ type: 'usage', usage: answer.usage }, finishOf(answer));
  return events;
}

function callEvents(answer: Said, first: number, status: (isCutHere: boolean) => ItemStatus): Event[] {
  const starts = answer.calls.map(({ name, signature }, at): Event[] => [
    {
      type: 'item-start',
      item: first + at,
      head: { type: 'tool-call', kind: 'function', callId: `call_${at}`, name },
    },
    ...(signature === undefined
      ? []
      : [
          {
            type: 'seal',
            item: first + at,
            seal: { signature, format: 'google-gemini-v1', givenBy: 'chat' },
          } as const,
        ]),
  ]);
  const deltas = answer.calls.map(({ pieces }, at) =>
    pieces.map((text): Event => ({ type: 'tool-input-delta', item: first + at, text })),
  );
  const ends = answer.calls.map((_, at): Event => {
    return { type: 'item-end', item: first + at, status: status(at === answer.calls.length - 1) };
  });
  if (!answer.isInterleaved)
    return answer.calls.flatMap((_, at) => [...starts[at]!, ...deltas[at]!, ends[at]!]);
  const rounds = [0, 1, 2].flatMap((round) => deltas.flatMap((list) => list[round] ?? []));
  return [...starts.flat(), ...rounds, ...ends];
}

function finishOf({ isCut, calls, refusal }: Said): Finish {
  const reason: FinishReason = isCut
    ? 'length'
    : calls.length > 0
      ? 'tool-calls'
      : refusal.length > 0
        ? 'refusal'
        : 'stop';
  return { type: 'finish', reason, nativeReason: 'its own word', serviceTier: 'flex' };
}

/** What of a result must survive. */
function essence(result: Result): object {
  const { reason, nativeReason, serviceTier } = result.finish ?? {};
  return {
    items: result.items,
    usage: result.usage,
    reason,
    nativeReason,
    serviceTier,
    failure: result.failure,
  };
}

const REQUEST = requestWith();

function decoded(frames: readonly Frame[], relay = false): Result {
  return fold(decodeFrames(frames, REQUEST, relay));
}

// --- The laws
// --------------------------------------------------------------------------------------------------------------

describe('the chat dialect', () => {
  const validator = compileValidator(chat.inbound.requestSchema('acme'));

  it('parses what it renders', () => {
    fc.assert(
      fc.property(generationRequest, (request) => {
        const { body, report } = chat.upstream.renderRequest(request, GENEROUS);
        expect(validator.issuesOf(body)).toEqual([]);
        expect(report).toEqual([]);
        expect(modelled(chat.inbound.parseRequest(body, { vendor: 'acme' }))).toEqual(modelled(request));
      }),
      RUNS,
    );
  });

  it('decodes the streams that it encodes', () => {
    fc.assert(
      fc.property(said, (answer) => {
        const events = eventsOf(answer);
        const frames = readFrames(encodeEvents(events, REQUEST));
        expect(essence(decoded(frames))).toEqual(essence(fold(events)));
      }),
      RUNS,
    );
  });

  it('decodes the bodies that it encodes', () => {
    fc.assert(
      fc.property(said, (answer) => {
        const result = fold(eventsOf(answer));
        const body = chat.inbound.encodeBody({ ...result, settled: settledWith(result) }, replyTo(REQUEST));
        const wire = JSON.parse(JSON.stringify(body)) as JsonObject;
        const again = fold(chat.upstream.decodeBody(wire, { request: REQUEST, relay: false }));
        expect(essence(again)).toEqual(essence(result));
      }),
      RUNS,
    );
  });

  it('gives the same result for any cut of the bytes', () => {
    fc.assert(
      fc.property(said, fc.array(fc.nat(), { maxLength: 12 }), (answer, cuts) => {
        const text = encodeEvents(eventsOf(answer), REQUEST);
        const bytes = Buffer.from(text);
        const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort(
          (one, other) => one - other,
        );
        const reader = new SseReader();
        const frames = [0, ...places].flatMap((from, at) => reader.push(bytes.subarray(from, places[at])));
        frames.push(...reader.end());
        expect(frames).toEqual(readFrames(text));
      }),
      RUNS,
    );
  });

  it('relays what it would translate', () => {
    fc.assert(
      fc.property(said, (answer) => {
        const upstream = readFrames(encodeEvents(eventsOf(answer), REQUEST));
        const relayed = encodeEvents(decodeFrames(upstream, REQUEST, true), REQUEST);
        const translated = encodeEvents(decodeFrames(upstream, REQUEST, false), REQUEST);
        expect(essence(decoded(upstream, true))).toEqual(essence(decoded(upstream)));
        expect(essence(decoded(readFrames(relayed)))).toEqual(essence(decoded(readFrames(translated))));
      }),
      RUNS,
    );
  });

  it('never throws on chunks of any shape', () => {
    const names = fc.constantFrom(
      'choices',
      'delta',
      'message',
      'content',
      'tool_calls',
      'function',
      'name',
      'arguments',
      'index',
      'id',
      'usage',
      'reasoning_details',
      'type',
      'text',
      'finish_reason',
      'error',
      'audio',
      'images',
      'annotations',
      'prompt_tokens',
    );
    const { anything } = fc.letrec((tie) => ({
      anything: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(null, true, -1, 1.5, '', 'text', 'reasoning.text', '{}'),
        fc.array(tie('anything'), { maxLength: 3 }),
        fc.dictionary(names, tie('anything'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 4 }), fc.boolean(), (chunks, relay) => {
        const frames = [...chunks.map((value) => ({ data: JSON.stringify(value) })), { data: '[DONE]' }];
        const events = decodeFrames(frames, REQUEST, relay);
        const text = encodeEvents(events, REQUEST);
        expect(readFrames(text).at(-1)?.data).toBe('[DONE]');
        expect(fold(events).finish ?? fold(events).failure).toBeDefined();
      }),
      { numRuns: 300 },
    );
  });
});
