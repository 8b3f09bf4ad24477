import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bedrock } from '../../src/dialects/bedrock/index.ts';
import type { RenderTarget, ReplyContext } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import { GatewayError } from '../../src/ir/errors.ts';
import type { Event } from '../../src/ir/events.ts';
import { fold } from '../../src/ir/folding/fold.ts';
import type { CacheMark, Ext, Format, Item, Part, Role, Source } from '../../src/ir/items.ts';
import { Places } from '../../src/ir/places.ts';
import type { GenerationRequest, Tool, ToolChoice } from '../../src/ir/request.ts';
import type { Result } from '../../src/ir/result.ts';
import type { ReasoningSettings } from '../../src/ir/settings.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { objectAt, objectsAt, stringAt } from '../../src/kit/json/members.ts';
import { requestOf } from '../kit/builders/request.ts';
import { FULL_TURN } from '../kit/fixtures/bedrock/answers.ts';
import { awsStream } from '../kit/fixtures/bedrock/aws-events.ts';

const RUNS = { numRuns: 100 };
const FORMATS: readonly Format[] = ['responses', 'messages', 'chat'];

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('', ' ', '\n\t', '<system>', '{"a":1}'),
);
const word = fc.stringMatching(/^[a-zA-Z0-9_-]{1,24}$/);
/** Few ids, so that calls and results meet, are missing and come again. */
const callId = fc.constantFrom('a', 'b', 'c', 'ü/ö', 'x'.repeat(80));
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 30 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));

/** A record with some of its members left out. */
function some<T extends object>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}

// --- Requests ------------------------------------------------------------------------------------------------------

const cache = fc.constantFrom<CacheMark>({}, { ttl: '5m' }, { ttl: '1h' });
const extra: fc.Arbitrary<Ext> = fc.constantFrom(
  {},
  { messages: { caller: { type: 'x' } } },
  { chat: { name: 'n' } },
);

const source: fc.Arbitrary<Source> = fc.oneof(
  fc.record({
    kind: fc.constant('base64' as const),
    mediaType: fc.constantFrom(
      'image/png',
      'image/tiff',
      'application/pdf',
      'text/csv; charset=utf-8',
      'x/y',
    ),
    data: fc.oneof(base64, fc.constant('')),
  }),
  fc.record({ kind: fc.constant('text' as const), mediaType: fc.constantFrom('text/plain', 'a/b'), text }),
  fc.record({
    kind: fc.constant('url' as const),
    url: fc.constantFrom('https://a.example/', 's3://b/c.pdf', 's3://b/c'),
  }),
  fc.record({ kind: fc.constant('file-id' as const), fileId: word }),
);

const part: fc.Arbitrary<Part> = fc
  .tuple(
    fc.oneof(
      text.map((value): Part => ({ type: 'text', text: value })),
      text.map((refusal): Part => ({ type: 'refusal', refusal })),
      source.map((from): Part => ({ type: 'image', source: from })),
      fc.tuple(source, text).map(([from, filename]): Part => ({ type: 'file', source: from, filename })),
      fc.constantFrom<Part>(
        { type: 'audio', data: 'AAAA', format: 'wav' },
        { type: 'audio', data: 'AAAA', format: 'odd' },
        { type: 'video', url: 'https://a.example/v' },
        {
          type: 'opaque',
          dialect: 'messages',
          value: { type: 'search_result', content: [{ type: 'text', text: 'x' }] },
        },
        { type: 'opaque', dialect: 'messages', value: { type: 'document', source: { content: 5 } } },
        { type: 'opaque', dialect: 'chat', value: { type: 'odd' } },
      ),
    ),
    some<{ cache: CacheMark; ext: Ext }>({ cache, ext: extra }),
  )
  .map(([made, more]) => ({ ...made, ...more }) as Part);

const parts = fc.array(part, { maxLength: 3 });

const item: fc.Arbitrary<Item> = fc.oneof(
  fc
    .tuple(fc.constantFrom<Role>('user', 'assistant', 'system', 'developer'), parts)
    .map(([role, content]): Item => ({ type: 'message', role, content })),
  fc.tuple(callId, text, some<{ cache: CacheMark; signature: string }>({ cache, signature: word })).map(
    ([id, input, more]): Item => ({
      type: 'tool-call',
      kind: 'function',
      callId: id,
      name: 'f',
      input,
      ...more,
    }),
  ),
  fc.tuple(callId, parts, some<{ cache: CacheMark; isError: boolean }>({ cache, isError: fc.boolean() })).map(
    ([id, content, more]): Item => ({
      type: 'tool-result',
      kind: 'function',
      callId: id,
      content,
      ...more,
    }),
  ),
  fc
    .tuple(
      fc.array(text, { maxLength: 2 }),
      some<{ signature: string; encrypted: string; format: string }>({
        signature: word,
        encrypted: word,
        format: fc.constantFrom('anthropic-claude-v1', 'openai-responses-v1', 'amazon-bedrock-v1'),
      }),
    )
    .map(([thoughts, seal]): Item => ({ type: 'reasoning', text: thoughts, summary: [], ...seal })),
  source.map((from): Item => ({ type: 'image', source: from })),
  fc.constantFrom<Item>({ type: 'opaque', dialect: 'responses', value: { type: 'compaction' } }),
);

const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc
    .tuple(
      text,
      some<{ description: string; strict: boolean; cache: CacheMark }>({
        description: text,
        strict: fc.boolean(),
        cache,
      }),
    )
    .map(([name, more]): Tool => ({ type: 'function', name: `f${name}`, ...more })),
  word.map((name): Tool => ({ type: 'custom', name })),
  fc.constant<Tool>({
    type: 'hosted',
    dialect: 'responses',
    kind: 'web_search',
    value: { type: 'web_search' },
  }),
);

const choice = fc.constantFrom<ToolChoice>(
  { mode: 'auto' },
  { mode: 'none' },
  { mode: 'required' },
  { mode: 'tool', kind: 'function', name: 'f' },
  { mode: 'allowed', required: true, tools: [{ type: 'function', name: 'f' }] },
  { mode: 'hosted', dialect: 'responses', value: { type: 'web_search' } },
);

const reasoning = some<Required<Omit<ReasoningSettings, 'otherEffort'>>>({
  effort: fc.constantFrom('max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'),
  budgetTokens: fc.nat(50_000),
  enabled: fc.boolean(),
  adaptive: fc.boolean(),
  exclude: fc.boolean(),
  summary: fc.constantFrom('auto', 'concise'),
  display: fc.constantFrom('omitted'),
  context: fc.constantFrom('auto', 'all_turns'),
  mode: fc.constantFrom('standard', 'pro'),
});

const request: fc.Arbitrary<GenerationRequest> = fc
  .record({
    format: fc.constantFrom(...FORMATS),
    items: fc.array(item, { maxLength: 8 }),
    tools: fc.array(tool, { maxLength: 3 }),
    sampling: some<Required<GenerationRequest['sampling']>>({
      temperature: fc.double({ min: 0, max: 2, noNaN: true }),
      topP: fc.double({ min: 0, max: 1, noNaN: true }),
      topK: fc.nat(100),
      topA: fc.constant(0.5),
      minP: fc.constant(0.5),
      frequencyPenalty: fc.constant(1),
      presencePenalty: fc.constant(1),
      repetitionPenalty: fc.constant(2),
      seed: fc.integer(),
      stop: fc.array(text, { maxLength: 3 }),
      logitBias: fc.constant({ 5: 1 }),
      logprobs: fc.boolean(),
      topLogprobs: fc.nat(5),
    }),
    rest: some<Partial<GenerationRequest>>({
      toolChoice: choice,
      parallelToolCalls: fc.boolean(),
      requestedOutputTokens: fc.integer({ min: 1, max: 100_000 }),
      reasoning,
      outputFormat: fc.constantFrom<GenerationRequest['outputFormat']>(
        { type: 'json' },
        { type: 'json-schema', name: 'ü', schema: {} },
        { type: 'opaque', dialect: 'chat', value: { type: 'grammar' } },
      ),
      verbosity: word,
      cache,
      serviceTier: fc.constantFrom('auto', 'flex', 'priority', 'scale', 'constructor'),
      speed: fc.constantFrom<'fast' | 'standard'>('fast', 'standard'),
      metadata: fc.dictionary(text, fc.oneof(text, fc.integer()), {
        maxKeys: 20,
      }) as fc.Arbitrary<JsonObject>,
      user: fc.constant('ann@a.example'),
      ext: extra,
    }),
    stream: fc.boolean(),
  })
  .map(
    ({ rest, ...made }) =>
      ({ ...requestOf({ places: new Places() }), ...made, ...rest }) as GenerationRequest,
  );

const target: fc.Arbitrary<RenderTarget> = fc
  .tuple(
    fc.constantFrom(
      'anthropic.claude',
      'us.amazon.nova',
      'openai.gpt-oss',
      'meta.llama',
      'cohere.command',
      'profile/x',
    ),
    some<{ outputLimit: number; supportedParameters: ReadonlySet<string> }>({
      outputLimit: fc.integer({ min: 1, max: 100_000 }),
      supportedParameters: fc
        .subarray(['tools', 'tool_choice', 'reasoning', 'top_k', 'stop'])
        .map((names) => new Set(names)),
    }),
  )
  .map(([model, more]) => ({ model, hashUser: (id) => `hash of ${id}`, ...more }));

/** What the service refuses, found in a body. */
function problemsOf(body: JsonObject): string[] {
  const problems: string[] = [];
  const messages = objectsAt(body, 'messages');
  const ids = new Set<string>();
  let open: string[] = [];
  messages.forEach((message, index) => {
    const content = objectsAt(message, 'content');
    if (message.role !== (index % 2 === 0 ? 'user' : 'assistant'))
      problems.push(`turn ${index} out of order`);
    if (content.length === 0) problems.push(`turn ${index} is empty`);
    const answered = content.flatMap((block) => stringAt(objectAt(block, 'toolResult'), 'toolUseId') ?? []);
    if ([...answered].sort().join() !== [...open].sort().join())
      problems.push(`turn ${index} answers wrong calls`);
    const isAnswer = ({ toolResult, cachePoint }: JsonObject) => (toolResult ?? cachePoint) !== undefined;
    const first = content.findIndex((block) => !isAnswer(block));
    if (
      content.slice(first === -1 ? content.length : first).some(({ toolResult }) => toolResult !== undefined)
    ) {
      problems.push(`turn ${index} answers too late`);
    }
    open = content.flatMap((block) => stringAt(objectAt(block, 'toolUse'), 'toolUseId') ?? []);
    for (const id of open) {
      if (ids.has(id) || !/^[a-zA-Z0-9_-]{1,64}$/.test(id)) problems.push(`id ${id}`);
      ids.add(id);
    }
    const inner = content.flatMap((block) => objectsAt(objectAt(block, 'toolResult'), 'content'));
    if ([...content, ...inner].some((block) => stringAt(block, 'text')?.trim() === '')) {
      problems.push(`turn ${index} has blank text`);
    }
    const has = (member: string) => content.some((block) => block[member] !== undefined);
    if (has('document') && !has('text')) problems.push(`turn ${index} has a document without text`);
  });
  if (open.length > 0) problems.push('calls without an answer');
  if (ids.size > 0 && body.toolConfig === undefined) problems.push('calls without tools');
  const written = JSON.stringify(body);
  if ((written.match(/"cachePoint"/g) ?? []).length > 4) problems.push('too many cache points');
  const names = [...written.matchAll(/"document":\{"name":"([^"]*)"/g)].map(([, name]) => name ?? '');
  if (new Set(names).size < names.length) problems.push('documents with one name');
  for (const name of names) {
    if (!/^[a-zA-Z0-9\s()[\]-]{1,200}$/.test(name) || /\s\s/.test(name)) problems.push(`document ${name}`);
  }
  if (written.includes('ann@')) problems.push('an end user is named');
  return problems;
}

describe('requests of the bedrock dialect', () => {
  it('are always well-formed, whatever the request', () => {
    fc.assert(
      fc.property(request, target, (asked, endpoint) => {
        try {
          const { body } = bedrock.upstream.renderRequest(asked, endpoint);
          expect(problemsOf(JSON.parse(JSON.stringify(body)) as JsonObject)).toEqual([]);
        } catch (thrown) {
          if (!(thrown instanceof GatewayError)) throw thrown;
          expect(thrown.message).toContain('no content');
        }
      }),
      { numRuns: 400 },
    );
  });

  it('are the same every time', () => {
    fc.assert(
      fc.property(request, target, (asked, endpoint) => {
        const render = (): unknown => {
          try {
            return bedrock.upstream.renderRequest(asked, endpoint);
          } catch (thrown) {
            return String(thrown);
          }
        };
        const before = JSON.stringify(asked.items);
        expect(render()).toEqual(render());
        expect(JSON.stringify(asked.items)).toBe(before);
      }),
      RUNS,
    );
  });
});

// --- Answers -------------------------------------------------------------------------------------------------------

const delta = (contentBlockIndex: number, change: JsonObject): JsonObject => ({
  contentBlockDelta: { contentBlockIndex, delta: change },
});

const pieces = fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), {
  minLength: 1,
  maxLength: 3,
});

type Block = (index: number) => JsonObject[];

const block: fc.Arbitrary<Block> = fc.oneof(
  pieces.map(
    (said): Block =>
      (index) =>
        said.map((piece) => delta(index, { text: piece })),
  ),
  fc.tuple(pieces, base64).map(
    ([thoughts, signature]): Block =>
      (index) => [
        ...thoughts.map((piece) => delta(index, { reasoningContent: { text: piece } })),
        delta(index, { reasoningContent: { signature } }),
      ],
  ),
  base64.map(
    (redactedContent): Block =>
      (index) => [delta(index, { reasoningContent: { redactedContent } })],
  ),
  fc.tuple(word, pieces).map(
    ([name, input]): Block =>
      (index) => [
        {
          contentBlockStart: {
            contentBlockIndex: index,
            start: { toolUse: { toolUseId: `t${index}`, name } },
          },
        },
        ...input.map((piece) => delta(index, { toolUse: { input: piece } })),
      ],
  ),
);

const stream: fc.Arbitrary<JsonObject[]> = fc
  .tuple(
    fc.array(block, { maxLength: 5 }),
    fc.constantFrom('end_turn', 'tool_use', 'max_tokens'),
    fc.nat(1e6),
  )
  .map(([blocks, stopReason, tokens]) => [
    { messageStart: { role: 'assistant' } },
    ...blocks.flatMap((make, index) => [...make(index), { contentBlockStop: { contentBlockIndex: index } }]),
    { messageStop: { stopReason } },
    { metadata: { usage: { inputTokens: tokens, outputTokens: tokens, cacheReadInputTokens: tokens } } },
  ]);

function decode(bytes: Uint8Array, cuts: readonly number[] = []): Event[] {
  const reader = bedrock.upstream.createFrameReader(1_000_000);
  const decoder = bedrock.upstream.createDecoder({ request: requestOf(), relay: false });
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  const frames = places.flatMap((place, index) =>
    reader.push(bytes.subarray(place, places[index + 1] ?? place)),
  );
  return [...frames, ...reader.end()].flatMap((frame) => decoder.decode(frame)).concat(decoder.end());
}

describe('answers of the bedrock dialect', () => {
  it('fold to the same result for any cut of their bytes', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(3000), { maxLength: 12 }), (events, places) => {
        const bytes = awsStream(events);
        const cuts = places.map((place) => place % bytes.length);
        expect(fold(decode(bytes, cuts))).toEqual(fold(decode(bytes)));
      }),
      RUNS,
    );
    const bytes = awsStream(FULL_TURN);
    const everywhere = Array.from(bytes.keys());
    expect(fold(decode(bytes, everywhere))).toEqual(fold(decode(bytes)));
  });

  it('end exactly once, wherever their bytes break off', () => {
    const bytes = awsStream(FULL_TURN);
    for (let length = 0; length <= bytes.length; length += 7) {
      const events = decode(bytes.subarray(0, length));
      const terminals = events.filter(({ type }) => type === 'finish' || type === 'failure');
      expect(terminals).toEqual([events.at(-1)]);
    }
  });
});

// --- There and back ------------------------------------------------------------------------------------------------

function replyTo(asked: GenerationRequest): ReplyContext {
  return {
    vendor: 'acme',
    request: asked,
    generationId: 'gen-1',
    createdAtMs: 0,
    now: () => 0,
    model: 'acme/large',
    provider: 'Acme',
    serviceTier: 'default',
  };
}

/** The next request of a caller that sends an answer back unchanged. */
const REPLAYS: Readonly<Record<Format, (answer: JsonObject) => JsonObject>> = {
  responses: (answer) => ({
    model: 'acme/large',
    input: [
      { role: 'user', content: 'q' },
      ...objectsAt(answer, 'output'),
      { role: 'user', content: 'go on' },
    ],
  }),
  messages: (answer) => ({
    model: 'acme/large',
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: answer.content },
      { role: 'user', content: 'go on' },
    ],
  }),
  chat: (answer) => ({
    model: 'acme/large',
    messages: [
      { role: 'user', content: 'q' },
      objectAt(objectsAt(answer, 'choices')[0], 'message') ?? {},
      { role: 'user', content: 'go on' },
    ],
  }),
};

describe.each(FORMATS)('a %s caller', (format) => {
  const inbound = DIALECTS[format].inbound;

  it('gets reasoning back byte for byte', () => {
    const thoughts = fc.array(
      fc.oneof(
        fc.tuple(word, base64).map(([said, signature]) => ({ reasoningText: { text: said, signature } })),
        base64.map((redactedContent) => ({ redactedContent })),
      ),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(thoughts, (sealed) => {
        const content = [...sealed.map((reasoningContent) => ({ reasoningContent })), { text: 'Done.' }];
        const body = { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn' };
        const asked = inbound.parseRequest(REPLAYS[format]({ content: 'x', choices: [] }), {
          vendor: 'acme',
        });
        const result: Result = fold(bedrock.upstream.decodeBody(body, { request: asked, relay: false }));
        const answer = JSON.parse(JSON.stringify(inbound.encodeBody(result, replyTo(asked)))) as JsonObject;
        const next = inbound.parseRequest(REPLAYS[format](answer), { vendor: 'acme' });
        const again = bedrock.upstream.renderRequest(next, { model: 'anthropic.claude', hashUser: String });
        expect(objectsAt(again.body, 'messages')[1]).toEqual({ role: 'assistant', content });
        expect(again.report).toEqual([]);
      }),
      RUNS,
    );
  });
});
