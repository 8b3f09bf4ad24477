import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplyContext } from '../../src/dialects/dialect.ts';
import { messages } from '../../src/dialects/messages/index.ts';
import type { Event, Finish, ItemHead } from '../../src/ir/events.ts';
import { fold } from '../../src/ir/folding/fold.ts';
import type { CacheMark, Ext, Item, MessageItem, OutputItem, Part, Source } from '../../src/ir/items.ts';
import { Places } from '../../src/ir/places.ts';
import type { GenerationRequest, Tool, ToolChoice } from '../../src/ir/request.ts';
import type { Result } from '../../src/ir/result.ts';
import type { ReasoningSettings } from '../../src/ir/settings.ts';
import type { Usage } from '../../src/ir/usage.ts';
import type { Frame } from '../../src/kit/frames/frames.ts';
import { SseReader } from '../../src/kit/frames/sse.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { compileValidator } from '../../src/kit/json/validate.ts';
import { withPairs } from '../kit/builders/with-pairs.ts';

const RUNS = { numRuns: 100 };
const VENDOR = 'signalbox';
const NATIVE = 'anthropic-claude-v1';

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
const word = fc.stringMatching(/^[a-zA-Z0-9_-]{1,24}$/);
const jsonText = fc
  .dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  .map((value) => JSON.stringify(value));

/** A record with some of its members left out. */
function some<T extends object>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}

// --- Requests ------------------------------------------------------------------------------------------------------

const cache: fc.Arbitrary<CacheMark> = fc.constantFrom({}, { ttl: '5m' as const }, { ttl: '1h' as const });
const marked = some<{ cache: CacheMark }>({ cache });

const imageSource: fc.Arbitrary<Source> = fc.oneof(
  fc.record({
    kind: fc.constant('base64' as const),
    mediaType: fc.constant('image/png'),
    data: fc.base64String({ minLength: 4 }),
  }),
  fc.record({ kind: fc.constant('url' as const), url: fc.webUrl() }),
  fc.record({ kind: fc.constant('file-id' as const), fileId: word }),
);

const fileSource: fc.Arbitrary<Source> = fc.oneof(
  fc.record({
    kind: fc.constant('base64' as const),
    mediaType: fc.constant('application/pdf'),
    data: fc.base64String({ minLength: 4 }),
  }),
  fc.record({ kind: fc.constant('text' as const), mediaType: fc.constant('text/plain'), text }),
  fc.record({ kind: fc.constant('url' as const), url: fc.webUrl() }),
);

const textPart: fc.Arbitrary<Part> = fc
  .tuple(text, marked)
  .map(([value, mark]) => ({ type: 'text', text: value, ...mark }));

const userPart: fc.Arbitrary<Part> = fc.oneof(
  textPart,
  fc.tuple(imageSource, marked).map(([source, mark]): Part => ({ type: 'image', source, ...mark })),
  fc
    .tuple(fileSource, some<{ filename: string }>({ filename: text }), marked)
    .map(([source, name, mark]): Part => ({ type: 'file', source, ...name, ...mark })),
  text.map(
    (source): Part => ({
      type: 'opaque',
      dialect: 'messages',
      value: { type: 'search_result', source, title: 't', content: [] },
    }),
  ),
);

function message(role: MessageItem['role'], part: fc.Arbitrary<Part>): fc.Arbitrary<Item> {
  return fc
    .array(part, { minLength: 1, maxLength: 3 })
    .map((content) => ({ type: 'message', role, content }));
}

const toolResult: fc.Arbitrary<Item> = fc
  .tuple(
    word,
    fc.array(userPart, { maxLength: 2 }),
    some<{ isError: boolean }>({ isError: fc.boolean() }),
    marked,
  )
  .map(([callId, content, error, mark]) => ({
    type: 'tool-result',
    kind: 'function',
    callId,
    content,
    ...error,
    ...mark,
  }));

const reasoning: fc.Arbitrary<Item> = fc.oneof(
  fc.tuple(fc.option(text, { nil: undefined }), word).map(
    ([thought, signature]): Item => ({
      type: 'reasoning',
      text: thought === undefined ? [] : [thought],
      summary: [],
      signature,
      format: NATIVE,
    }),
  ),
  word.map((encrypted): Item => ({ type: 'reasoning', text: [], summary: [], encrypted, format: NATIVE })),
);

const toolCall: fc.Arbitrary<Item> = fc
  .tuple(word, word, jsonText, marked)
  .map(([callId, name, input, mark]) => ({
    type: 'tool-call',
    kind: 'function',
    callId,
    name,
    input,
    ...mark,
  }));

const opaqueItem: fc.Arbitrary<Item> = word.map((id) => ({
  type: 'opaque',
  dialect: 'messages',
  value: { type: 'server_tool_use', id, name: 'web_search', input: { query: id } },
  role: 'assistant',
}));

const userTurn: fc.Arbitrary<Item[]> = fc
  .tuple(fc.array(toolResult, { maxLength: 2 }), message('user', userPart))
  .map(([results, said]) => [...results, said]);

const assistantTurn: fc.Arbitrary<Item[]> = fc
  .array(fc.oneof(reasoning, toolCall, opaqueItem, message('assistant', textPart)), {
    minLength: 1,
    maxLength: 4,
  })
  .map(withoutAdjacentMessages);

const conversation: fc.Arbitrary<Item[]> = fc
  .tuple(
    fc.option(message('system', textPart), { nil: undefined }),
    fc.array(fc.tuple(userTurn, assistantTurn), { maxLength: 3 }),
    message('user', userPart),
  )
  .map(([system, turns, last]) => [
    ...(system === undefined ? [] : [system]),
    ...turns.flat(2),
    ...AFTER_TOOLS,
    last,
  ])
  .map(withPairs);

/** Upstreams take no thinking where the last turn of the model ended in calls and began without thoughts. */
const AFTER_TOOLS: readonly Item[] = [
  { type: 'message', role: 'user', content: [{ type: 'text', text: 'And?' }] },
  { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Well.' }] },
];

/** Messages in a row are one message on the wire. */
function withoutAdjacentMessages<T extends { type: string }>(items: readonly T[]): T[] {
  return items.filter((item, index) => item.type !== 'message' || items[index - 1]?.type !== 'message');
}

const functionTool: fc.Arbitrary<Tool> = fc
  .tuple(
    word,
    some<{ description: string; strict: boolean; cache: CacheMark }>({
      description: text,
      strict: fc.boolean(),
      cache,
    }),
  )
  .map(([name, rest]) => ({
    type: 'function',
    name,
    parameters: { type: 'object', properties: { a: { type: 'string' } } },
    ...rest,
  }));

const hostedTool: fc.Arbitrary<Tool> = fc.constant({
  type: 'hosted',
  dialect: 'messages',
  kind: 'web_search_20250305',
  value: { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
});

const tools = fc.uniqueArray(fc.oneof(functionTool, hostedTool), {
  selector: (tool) => (tool.type === 'hosted' ? 'web_search' : tool.name),
  minLength: 1,
  maxLength: 3,
});

function choiceAmong(declared: readonly Tool[], isThinking: boolean): fc.Arbitrary<ToolChoice> {
  const named = declared.flatMap((tool): ToolChoice[] =>
    tool.type === 'function' ? [{ mode: 'tool', kind: 'function', name: tool.name }] : [],
  );
  return fc.constantFrom<ToolChoice>(
    { mode: 'auto' },
    { mode: 'none' },
    ...(isThinking ? [] : [{ mode: 'required' } as const, ...named]),
  );
}

const thinking: fc.Arbitrary<ReasoningSettings | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constant<ReasoningSettings>({ enabled: false }),
  fc.constantFrom<ReasoningSettings>({ effort: 'low' }, { effort: 'max' }),
  fc.constantFrom<ReasoningSettings>(
    { adaptive: true },
    { adaptive: true, display: 'omitted', effort: 'high' },
  ),
  fc.integer({ min: 1024, max: 1999 }).map((budgetTokens) => ({ enabled: true, budgetTokens })),
);

const request: fc.Arbitrary<GenerationRequest> = fc
  .record({ items: conversation, declared: fc.option(tools, { nil: [] }), reasoning: thinking })
  .chain(({ items, declared, reasoning: settings }) => {
    const isThinking = settings?.adaptive === true || settings?.budgetTokens !== undefined;
    return fc
      .record({
        choice:
          declared.length === 0
            ? fc.constant(undefined)
            : fc.option(choiceAmong(declared, isThinking), { nil: undefined }),
        parallel: fc.boolean(),
        sampling: some<{ temperature: number; topP: number; topK: number; stop: string[] }>({
          ...(!isThinking && {
            temperature: fc.double({ min: 0, max: 1, noNaN: true }),
            topP: fc.double({ min: 0, max: 1, noNaN: true }),
            topK: fc.nat(100),
          }),
          stop: fc.array(text, { maxLength: 2 }),
        } as never),
        rest: some<Pick<GenerationRequest, 'outputFormat' | 'serviceTier' | 'speed'>>({
          outputFormat: fc.constant({
            type: 'json-schema',
            name: 'output',
            schema: { type: 'object' },
          } as const),
          serviceTier: fc.constantFrom('auto', 'standard_only'),
          speed: fc.constant('fast' as const),
        }),
        ext: fc.constantFrom<Ext>(
          {},
          { messages: { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } } },
          { messages: { output_config: { task_budget: { type: 'tokens', total: 30_000 } } } },
        ),
        stream: fc.boolean(),
      })
      .map(
        ({ choice, parallel, sampling, rest, ext, stream }): GenerationRequest => ({
          format: 'messages',
          formatFacts: messages.facts.request,
          body: {},
          models: ['m'],
          hasFallbackModels: false,
          items,
          tools: declared,
          ...(choice !== undefined && { toolChoice: choice }),
          ...(choice !== undefined && choice.mode !== 'none' && !parallel && { parallelToolCalls: false }),
          sampling: sampling as GenerationRequest['sampling'],
          requestedOutputTokens: 2000,
          ...(settings !== undefined && { reasoning: settings }),
          ...rest,
          stream,
          echoUpstreamBody: false,
          wishes: { provider: {}, plugins: [] },
          ext,
          places: new Places(),
          unknownFields: [],
        }),
      );
  });

const MAX_CACHE_MARKS = 4;

/** The request with its first marks only: upstreams take no more. */
function withFewMarks(original: GenerationRequest): GenerationRequest {
  let left = MAX_CACHE_MARKS;
  const limited = <T extends Item | Part | Tool>(thing: T): T => {
    const { cache: mark, ...rest } = thing as T & { readonly cache?: CacheMark };
    return mark === undefined || left-- > 0 ? thing : (rest as unknown as T);
  };
  const withParts = (item: Item): Item =>
    item.type === 'message' || item.type === 'tool-result'
      ? { ...item, content: item.content.map(limited) }
      : item;
  return {
    ...original,
    tools: original.tools.map(limited),
    items: original.items.map((item) => limited(withParts(item))),
  };
}

const validator = compileValidator(messages.inbound.requestSchema(VENDOR));
const target = { model: 'm', hashUser: (id: string) => `hash of ${id}` };

describe('requests of the messages dialect', () => {
  it('parse(render(request)) = request', () => {
    fc.assert(
      fc.property(request.map(withFewMarks), (original) => {
        const { body, report } = messages.upstream.renderRequest(original, target);
        const wire = JSON.parse(JSON.stringify(body)) as JsonObject;
        expect(validator.issuesOf(wire)).toEqual([]);
        expect(report).toEqual([]);
        const parsed = messages.inbound.parseRequest(wire, { vendor: VENDOR });
        expect({ ...parsed, body: {} }).toEqual(original);
      }),
      RUNS,
    );
  });
});

// --- Answers -------------------------------------------------------------------------------------------------------

interface Written {
  readonly head: ItemHead;
  /** What happens between the start and the end, the position of the item still open. */
  readonly inside: readonly ((item: number) => Event)[];
}

const chunks = fc.array(text, { minLength: 1, maxLength: 3 });

const writtenMessage: fc.Arbitrary<Written> = fc
  .array(fc.tuple(chunks, fc.boolean()), { minLength: 1, maxLength: 2 })
  .map((parts) => ({
    head: { type: 'message' },
    inside: parts.flatMap(([deltas, isCited], part): ((item: number) => Event)[] => [
      (item) => ({ type: 'part-start', item, part, kind: 'text' }),
      ...deltas.map(
        (delta) =>
          (item: number): Event => ({ type: 'text-delta', item, part, kind: 'text', text: delta }),
      ),
      ...(isCited
        ? [
            (item: number): Event => ({
              type: 'annotation',
              item,
              part,
              annotation: { type: 'url-citation', url: 'https://a.example/', title: 'A', content: 'c' },
            }),
          ]
        : []),
      (item) => ({ type: 'part-end', item, part, kind: 'text' }),
    ]),
  }));

const writtenReasoning: fc.Arbitrary<Written> = fc.oneof(
  fc.tuple(chunks, fc.option(word, { nil: undefined })).map(
    ([deltas, signature]): Written => ({
      head: { type: 'reasoning' },
      inside: [
        (item) => ({ type: 'part-start', item, part: 0, kind: 'thought' }),
        ...deltas.map(
          (delta) =>
            (item: number): Event => ({ type: 'text-delta', item, part: 0, kind: 'thought', text: delta }),
        ),
        (item) => ({ type: 'part-end', item, part: 0, kind: 'thought' }),
        ...(signature === undefined
          ? []
          : [(item: number): Event => ({ type: 'seal', item, seal: { signature, format: NATIVE } })]),
      ],
    }),
  ),
  fc.tuple(word, fc.constantFrom('signature', 'encrypted')).map(
    ([seal, kind]): Written => ({
      head: { type: 'reasoning' },
      inside: [(item) => ({ type: 'seal', item, seal: { [kind]: seal, format: NATIVE } })],
    }),
  ),
);

const writtenCall: fc.Arbitrary<Written> = fc
  .tuple(word, word, jsonText, fc.nat(20))
  .map(([callId, name, input, cut]) => ({
    head: { type: 'tool-call', kind: 'function', callId, name },
    inside: [input.slice(0, cut), input.slice(cut)].map(
      (piece) =>
        (item: number): Event => ({ type: 'tool-input-delta', item, text: piece }),
    ),
  }));

const writtenOpaque: fc.Arbitrary<Written> = word.map((query) => ({
  head: {
    type: 'opaque',
    item: {
      type: 'opaque',
      dialect: 'messages',
      value: { type: 'server_tool_use', id: 's', name: 'web_search', input: { query } },
      role: 'assistant',
    },
  },
  inside: [],
}));

const output = fc
  .array(fc.oneof(writtenMessage, writtenReasoning, writtenCall, writtenOpaque), {
    maxLength: 5,
  })
  .map((items) =>
    items.filter((item, index) => item.head.type !== 'message' || items[index - 1]?.head.type !== 'message'),
  );

const usage: fc.Arbitrary<Usage> = fc
  .record({
    fresh: fc.nat(),
    cached: fc.nat(),
    five: fc.nat(),
    hour: fc.nat(),
    answer: fc.nat(),
    thoughts: fc.nat(),
    searches: fc.nat(9),
  })
  .map((count) => ({
    inputTokens: (count.fresh % 1e6) + (count.cached % 1e6) + (count.five % 1e6) + (count.hour % 1e6),
    cachedTokens: count.cached % 1e6,
    cacheWriteTokens: count.five % 1e6,
    cacheWrite1hTokens: count.hour % 1e6,
    outputTokens: (count.answer % 1e6) + (count.thoughts % 1e6),
    reasoningTokens: count.thoughts % 1e6,
    imageTokens: 0,
    webSearchRequests: count.searches,
    source: 'measured',
  }));

function finishAfter(items: readonly Written[]): fc.Arbitrary<Finish> {
  const hasCall = items.some(({ head }) => head.type === 'tool-call');
  return fc.oneof(
    fc.constantFrom<Finish>(
      { type: 'finish', reason: hasCall ? 'tool-calls' : 'stop' },
      { type: 'finish', reason: 'length' },
      { type: 'finish', reason: 'pause' },
      { type: 'finish', reason: 'compaction' },
      { type: 'finish', reason: 'refusal', category: 'bio', explanation: 'because' },
    ),
    hasCall
      ? fc.constant<Finish>({ type: 'finish', reason: 'tool-calls' })
      : text.map((stopSequence): Finish => ({ type: 'finish', reason: 'stop', stopSequence })),
  );
}

/** Neighbouring calls are written side by side, everything else one after the other. */
function eventsOf(items: readonly Written[], finish: Finish, counts: Usage): Event[] {
  const events: Event[] = [{ type: 'start' }];
  const end = (item: number): Event => ({
    type: 'item-end',
    item,
    status: finish.reason === 'length' && item === items.length - 1 ? 'incomplete' : 'completed',
  });
  for (let from = 0; from < items.length; ) {
    let to = from + 1;
    while (items[from]!.head.type === 'tool-call' && items[to]?.head.type === 'tool-call') to++;
    const group = items.slice(from, to).map((item, offset) => ({ ...item, item: from + offset }));
    for (const { item, head } of group) events.push({ type: 'item-start', item, head });
    const longest = Math.max(...group.map(({ inside }) => inside.length));
    for (let step = 0; step < longest; step++) {
      for (const { item, inside } of group) if (inside[step] !== undefined) events.push(inside[step]!(item));
    }
    for (const { item } of group) events.push(end(item));
    from = to;
  }
  events.push({ type: 'usage', usage: counts }, finish);
  return events;
}

const answer: fc.Arbitrary<Event[]> = fc
  .tuple(output, usage)
  .chain(([items, counts]) => finishAfter(items).map((finish) => eventsOf(items, finish, counts)));

const asked = messages.inbound.parseRequest(
  { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  { vendor: VENDOR },
);

const context: ReplyContext = {
  vendor: VENDOR,
  request: asked,
  generationId: 'gen-1-Abc',
  createdAtMs: 0,
  now: () => 0,
  model: 'acme/large',
  provider: 'Acme',
  serviceTier: 'default',
};

function encoded(events: readonly Event[]): Uint8Array {
  return Buffer.from(messages.inbound.createEncoder(context).encode(events));
}

function framesOf(bytes: Uint8Array, cuts: readonly number[] = []): Frame[] {
  const reader = new SseReader();
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
}

function decoded(frames: readonly Frame[], relay = false): Event[] {
  const decoder = messages.upstream.createDecoder({ request: asked, relay });
  return [...frames.flatMap((frame) => decoder.decode(frame)), ...decoder.end()];
}

/** What the representation models of an answer; native words and tiers apart. */
function modelled({ items, finish, usage: counts, failure }: Result) {
  const { reason, stopSequence, category, explanation } = finish ?? {};
  return { items, counts, failure, reason, stopSequence, category, explanation };
}

/** The relay lane as settlement leaves it: the terminal event comes once more, by itself. */
function settled(events: readonly Event[]): Event[] {
  return events.flatMap((event) => {
    const terminal =
      event.type === 'relay' ? event.events.find((inner) => inner.type === 'finish') : undefined;
    return terminal === undefined ? [event] : [event, terminal];
  });
}

describe('answers of the messages dialect', () => {
  it('decode(encode(events)) = events, folded', () => {
    fc.assert(
      fc.property(answer, (events) => {
        expect(modelled(fold(decoded(framesOf(encoded(events)))))).toEqual(modelled(fold(events)));
      }),
      RUNS,
    );
  });

  it('any split of the bytes gives the same frames', () => {
    fc.assert(
      fc.property(answer, fc.array(fc.nat(), { maxLength: 30 }), (events, cuts) => {
        const bytes = encoded(events);
        const frames = framesOf(bytes, cuts);
        expect(frames).toEqual(framesOf(bytes));
        expect(modelled(fold(decoded(frames)))).toEqual(modelled(fold(events)));
      }),
      RUNS,
    );
  });

  it('relay = translate, folded', () => {
    fc.assert(
      fc.property(answer, (events) => {
        const frames = framesOf(encoded(events));
        const relayed = decoded(frames, true);
        expect(modelled(fold(relayed))).toEqual(modelled(fold(decoded(frames))));
        expect(modelled(fold(decoded(framesOf(encoded(settled(relayed))))))).toEqual(modelled(fold(events)));
      }),
      RUNS,
    );
  });

  it('a whole body means the same as the stream', () => {
    fc.assert(
      fc.property(answer, (events) => {
        const body = JSON.parse(
          JSON.stringify(messages.inbound.encodeBody(fold(events), context)),
        ) as JsonObject;
        const whole = fold(messages.upstream.decodeBody(body, { request: asked, relay: false }));
        expect(withReadInputs(modelled(whole))).toEqual(withReadInputs(modelled(fold(events))));
      }),
      RUNS,
    );
  });

  it('images are sent as text that the next turn turns back into images', () => {
    fc.assert(
      fc.property(fc.base64String({ minLength: 4 }), (data) => {
        const source: Source = { kind: 'base64', mediaType: 'image/png', data };
        const events: Event[] = [
          { type: 'start' },
          { type: 'item-start', item: 0, head: { type: 'image' } },
          { type: 'image-data', item: 0, source },
          { type: 'item-end', item: 0, status: 'completed' },
          { type: 'finish', reason: 'stop' },
        ];
        const streamed = fold(decoded(framesOf(encoded(events))));
        const [said] = streamed.items;
        const { content } = messages.inbound.encodeBody(fold(events), context);
        expect(said).toMatchObject({ type: 'message', content: [{ text: firstText(content) }] });
        const conversation = [{ role: 'assistant', content: content as JsonObject[] }];
        const next = messages.inbound.parseRequest(
          { model: 'm', messages: conversation },
          { vendor: VENDOR },
        );
        expect(next.items).toEqual([{ type: 'image', source }]);
      }),
      RUNS,
    );
  });
});

function firstText(content: unknown): unknown {
  return (content as JsonObject[])[0]?.text;
}

/** A whole body holds inputs as objects, so their text is compared as what it means. */
function withReadInputs<T extends { items: readonly OutputItem[] }>(result: T) {
  return {
    ...result,
    items: result.items.map((item) =>
      item.type === 'tool-call' ? { ...item, input: JSON.parse(item.input) } : item,
    ),
  };
}
