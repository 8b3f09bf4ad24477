import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RenderTarget } from '../../src/dialects/dialect.ts';
import { gemini } from '../../src/dialects/gemini/index.ts';
import { GatewayError } from '../../src/ir/errors.ts';
import type { Event } from '../../src/ir/events.ts';
import { fold } from '../../src/ir/folding/fold.ts';
import type { DialectName, Ext, Format, Item, Part, Role, Source } from '../../src/ir/items.ts';
import type { GenerationRequest, Tool, ToolChoice } from '../../src/ir/request.ts';
import { writtenItems } from '../../src/ir/result.ts';
import type { Effort } from '../../src/ir/settings.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { requestOf } from '../kit/builders/request.ts';
import { answerOf, decodeBytes } from '../kit/fixtures/gemini/gemini-fixture.ts';

const RUNS = { numRuns: 100 };

const text = fc.string({ unit: 'binary', maxLength: 20 });
const words = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
const word = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,12}$/);
const signature = fc.base64String({ minLength: 4, maxLength: 40 });
/** As it would be after a way over the wire, which knows no negative zero. */
const object: fc.Arbitrary<JsonObject> = fc
  .dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)));

/** A record with some of its members left out. */
function some<T extends object>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}

// --- Answers -------------------------------------------------------------------------------------------------------

const signed = some<{ thoughtSignature: string }>({ thoughtSignature: signature });

const wirePart: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.tuple(words, signed).map(([value, seal]) => ({ text: value, ...seal })),
  signature.map((thoughtSignature) => ({ text: '', thoughtSignature })),
  fc.tuple(words, signed).map(([value, seal]) => ({ text: value, thought: true, ...seal })),
  fc.tuple(word, object, signed).map(([name, args, seal]) => ({ functionCall: { name, args }, ...seal })),
  fc
    .tuple(fc.base64String({ minLength: 4 }), signed)
    .map(([data, seal]) => ({ inlineData: { mimeType: 'image/png', data }, ...seal })),
  object.map((executableCode) => ({ executableCode })),
);

const FINISH = ['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'OTHER', 'MALFORMED_FUNCTION_CALL', 'NEW_WORD'];

const usageMetadata = some<Record<string, number>>({
  promptTokenCount: fc.nat(9999),
  candidatesTokenCount: fc.nat(9999),
  thoughtsTokenCount: fc.nat(9999),
  totalTokenCount: fc.nat(99_999),
  cachedContentTokenCount: fc.nat(9999),
});

const chunk: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.array(wirePart, { maxLength: 3 }),
    fc.option(fc.constantFrom(...FINISH), { nil: undefined }),
    usageMetadata,
  )
  .map(([parts, finishReason, usage]) => ({
    candidates: [{ content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) }],
    usageMetadata: usage as JsonObject,
    responseId: 'r1',
  }));

/** What no upstream should send. */
const nonsense: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.constantFrom('candidates', 'promptFeedback', 'usageMetadata', 'responseId', 'text'),
    fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.array(
        fc.record({
          content: fc.record({ parts: fc.array(fc.jsonValue({ maxDepth: 3 })) }),
          groundingMetadata: fc.jsonValue(),
          logprobsResult: fc.jsonValue(),
          citationMetadata: fc.jsonValue(),
        }),
      ),
    ),
  )
  .map(([name, value]) => ({ [name]: value }) as JsonObject);

function bytesOf(chunks: readonly JsonObject[]): Uint8Array {
  return Buffer.from(chunks.map((value) => `data: ${JSON.stringify(value)}\r\n\r\n`).join(''));
}

/** Items begin in order, one at a time, are written between their beginning and their end, and all end. */
function expectOrder(events: readonly Event[]): void {
  let items = 0;
  let open: number | undefined;
  for (const event of events) {
    if (event.type === 'item-start') {
      expect(open).toBeUndefined();
      expect(event.item).toBe(items++);
      open = event.item;
    } else if ('item' in event) {
      expect(event.item).toBe(open);
      if (event.type === 'item-end') open = undefined;
    }
  }
  const terminals = events.filter(({ type }) => type === 'finish' || type === 'failure');
  expect(terminals).toEqual([events.at(-1)]);
  if (events.at(-1)?.type === 'finish') expect(open).toBeUndefined();
}

describe('answers of the gemini dialect', () => {
  it('any split of the bytes means the same', () => {
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (chunks, cuts) => {
          const bytes = bytesOf(chunks);
          expect(fold(decodeBytes(bytes, cuts))).toEqual(fold(decodeBytes(bytes)));
        },
      ),
      RUNS,
    );
  });

  it('events come in order, whatever the upstream sends', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(chunk, nonsense), { maxLength: 6 }), (chunks) => {
        const events = decodeBytes(bytesOf(chunks));
        expectOrder(events);
        fold(events);
      }),
      RUNS,
    );
  });

  it('a whole body means the same as its parts one by one', () => {
    fc.assert(
      fc.property(fc.array(wirePart, { minLength: 1, maxLength: 5 }), (parts) => {
        const context = { request: requestOf(), relay: false };
        const whole = gemini.upstream.decodeBody(answerOf(parts), context);
        const { candidates: _, ...head } = answerOf([]);
        const pieces = parts.map((part) => ({ ...head, candidates: [{ content: { parts: [part] } }] }));
        expectOrder(whole);
        expect(fold(whole)).toEqual(fold(decodeBytes(bytesOf([...pieces, answerOf([])]))));
      }),
      RUNS,
    );
  });

  it('render(decode(turn)) = turn', () => {
    fc.assert(
      fc.property(fc.array(wirePart, { minLength: 1, maxLength: 6 }), (parts) => {
        const { items } = fold(
          gemini.upstream.decodeBody(answerOf(parts), { request: requestOf(), relay: false }),
        );
        const [asked] = requestOf().items as [Item];
        const said = writtenItems(items);
        const { body, report } = gemini.upstream.renderRequest(requestOf({ items: [asked, ...said] }), {
          model: 'gemini-2.5-flash',
          hashUser: (id) => id,
        });
        const contents = body.contents as { role: string; parts: JsonObject[] }[];
        expect(contents[1]).toEqual({ role: 'model', parts: joined(parts) });
        expect(report.filter(({ detail }) => !detail.startsWith('the call has no result'))).toEqual([]);
      }),
      RUNS,
    );
  });
});

/** Consecutive texts are joined unless the first has a signature. */
function joined(parts: readonly JsonObject[]): JsonObject[] {
  const result: JsonObject[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    const isMore =
      last !== undefined &&
      typeof last.text === 'string' &&
      typeof part.text === 'string' &&
      part.text !== '' &&
      last.thoughtSignature === undefined &&
      last.thought === part.thought;
    if (isMore) result[result.length - 1] = { ...last, ...part, text: `${last.text}${part.text}` };
    else result.push(part);
  }
  return result;
}

// --- Requests ------------------------------------------------------------------------------------------------------

const dialect = fc.constantFrom<DialectName>('responses', 'messages', 'chat', 'gemini', 'bedrock');
const ext = fc.dictionary(dialect, object, { maxKeys: 1 }) as fc.Arbitrary<Ext>;
const common = some<{ cache: { ttl?: '5m' }; ext: Ext }>({ cache: fc.constant({}), ext });

const source: fc.Arbitrary<Source> = fc.oneof(
  fc.record({
    kind: fc.constant('base64' as const),
    mediaType: fc.constantFrom('image/png', 'application/pdf', 'application/json', 'application/zip', ''),
    data: text,
  }),
  fc.record({
    kind: fc.constant('url' as const),
    url: fc.oneof(fc.webUrl(), text, fc.constant('gs://b/x.pdf')),
  }),
  fc.record({ kind: fc.constant('text' as const), mediaType: text, text }),
  fc.record({ kind: fc.constant('file-id' as const), fileId: text }),
);

const part: fc.Arbitrary<Part> = fc
  .tuple(
    fc.oneof<fc.Arbitrary<Part>[]>(
      text.map((value): Part => ({ type: 'text', text: value })),
      text.map((refusal): Part => ({ type: 'refusal', refusal })),
      source.map((value): Part => ({ type: 'image', source: value, detail: 'high' })),
      fc.tuple(source, text).map(([value, filename]): Part => ({ type: 'file', source: value, filename })),
      fc.record({ type: fc.constant('audio' as const), data: text, format: text }),
      fc.record({ type: fc.constant('video' as const), url: text }),
      fc.record({ type: fc.constant('opaque' as const), dialect, value: object }),
    ),
    common,
  )
  .map(([value, more]) => ({ ...value, ...more }) as Part);

const content = fc.array(part, { maxLength: 3 });
/** Few, so that calls and results meet, and meet twice. */
const callId = fc.constantFrom('a', 'b', 'c', '');
const kind = fc.constantFrom('function' as const, 'custom' as const);
const format = fc.constantFrom(
  'google-gemini-v1',
  'anthropic-claude-v1',
  'openai-responses-v1',
  'odd',
  undefined,
);

const item: fc.Arbitrary<Item> = fc
  .tuple(
    fc.oneof<fc.Arbitrary<Item>[]>(
      fc.record({
        type: fc.constant('message' as const),
        role: fc.constantFrom<Role>('user', 'assistant', 'system', 'developer'),
        content,
      }),
      fc.record({
        type: fc.constant('reasoning' as const),
        id: fc.oneof(callId, text),
        text: fc.array(text, { maxLength: 2 }),
        summary: fc.array(text, { maxLength: 2 }),
        signature: fc.option(signature, { nil: undefined }),
        encrypted: fc.option(signature, { nil: undefined }),
        format,
      }) as fc.Arbitrary<Item>,
      fc.record({
        type: fc.constant('tool-call' as const),
        kind,
        callId,
        name: text,
        input: fc.oneof(
          text,
          object.map((value) => JSON.stringify(value)),
        ),
        signature: fc.option(signature, { nil: undefined }),
        signatureFormat: format,
      }) as fc.Arbitrary<Item>,
      fc.record({ type: fc.constant('tool-result' as const), kind, callId, content, isError: fc.boolean() }),
      source.map((value): Item => ({ type: 'image', source: value })),
      fc.record({
        type: fc.constant('opaque' as const),
        dialect,
        value: object,
        role: fc.constantFrom<Role>('user', 'assistant'),
      }),
    ),
    common,
  )
  .map(([value, more]) => ({ ...value, ...more }) as Item);

const tool: fc.Arbitrary<Tool> = fc.oneof<fc.Arbitrary<Tool>[]>(
  fc
    .tuple(text, object, fc.boolean(), common)
    .map(
      ([name, parameters, strict, more]): Tool => ({ type: 'function', name, parameters, strict, ...more }),
    ),
  fc.tuple(text, text).map(([name, group]): Tool => ({ type: 'custom', name, namespace: { name: group } })),
  object.map((value): Tool => ({ type: 'hosted', dialect: 'responses', kind: 'web_search', value })),
);

const toolChoice: fc.Arbitrary<ToolChoice> = fc.oneof<fc.Arbitrary<ToolChoice>[]>(
  fc.constantFrom<ToolChoice>({ mode: 'auto' }, { mode: 'none' }, { mode: 'required' }),
  fc.tuple(kind, text).map(([tools, name]): ToolChoice => ({ mode: 'tool', kind: tools, name })),
  fc
    .tuple(fc.boolean(), fc.array(object, { maxLength: 2 }))
    .map(([required, tools]): ToolChoice => ({ mode: 'allowed', required, tools })),
  object.map((value): ToolChoice => ({ mode: 'hosted', dialect: 'chat', value })),
);

const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));

const settings = some<Partial<GenerationRequest>>({
  toolChoice,
  parallelToolCalls: fc.boolean(),
  requestedOutputTokens: fc.nat(),
  reasoning: some({
    effort: fc.constantFrom<Effort>('max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'),
    budgetTokens: fc.nat(),
    enabled: fc.boolean(),
    adaptive: fc.boolean(),
    exclude: fc.boolean(),
    summary: text,
    display: text,
    context: text,
    mode: text,
  }) as fc.Arbitrary<NonNullable<GenerationRequest['reasoning']>>,
  outputFormat: fc.oneof(
    fc.constant({ type: 'json' } as const),
    object.map(
      (schema) => ({ type: 'json-schema', name: 'n', schema, description: 'd', strict: true }) as const,
    ),
    object.map((value) => ({ type: 'opaque', dialect: 'chat', value }) as const),
  ),
  sampling: some({
    temperature: number,
    topP: number,
    topK: number,
    topA: number,
    seed: number,
    stop: fc.array(text),
    logitBias: object,
    logprobs: fc.boolean(),
    topLogprobs: fc.nat(30),
  }) as fc.Arbitrary<GenerationRequest['sampling']>,
  modalities: fc.array(fc.constantFrom('text', 'image', 'audio')),
  imageConfig: object,
  metadata: object,
  serviceTier: text,
  include: fc.array(text, { maxLength: 2 }),
  unknownFields: fc.array(word, { maxLength: 2 }),
  ext,
});

const request: fc.Arbitrary<GenerationRequest> = fc
  .tuple(
    fc.constantFrom<Format>('responses', 'messages', 'chat'),
    fc.array(item, { maxLength: 8 }),
    fc.array(tool, { maxLength: 4 }),
    settings,
  )
  .map(([inbound, items, tools, more]) =>
    requestOf({ sampling: {}, ...more, format: inbound, items, tools }),
  );

const target: fc.Arbitrary<RenderTarget> = fc
  .tuple(
    fc.constantFrom(
      'gemini-2.5-flash',
      'gemini-2.5-pro',
      'gemini-3-pro-preview',
      'gemini-2.0-flash',
      'tuned',
    ),
    some<Pick<RenderTarget, 'outputLimit' | 'supportedParameters'>>({
      outputLimit: fc.nat(),
      supportedParameters: fc.constantFrom(
        new Set<string>(),
        new Set(['tools', 'reasoning', 'response_format']),
      ),
    }),
  )
  .map(([model, more]) => ({ model, hashUser: (id: string) => id, ...more }));

/** What upstreams refuse a request for. */
function expectSound(body: JsonObject): void {
  const contents = body.contents as { role: string; parts: JsonObject[] }[];
  const count = (place: number, member: string) =>
    contents[place]?.parts.filter((each) => each[member] !== undefined).length ?? 0;
  expect(contents[0]?.role).toBe('user');
  contents.forEach(({ role, parts }, place) => {
    expect(parts.length).toBeGreaterThan(0);
    expect(role === 'model' && contents[place - 1]?.role === 'model').toBe(false);
    const calls = role === 'model' ? count(place, 'functionCall') : 0;
    expect(calls > 0 ? count(place + 1, 'functionResponse') : calls).toBe(calls);
    for (const each of parts) if (each.text === '') expect(each.thoughtSignature).toBeDefined();
  });
}

describe('requests of the gemini dialect', () => {
  it('are rendered in a form that upstreams take, whatever they hold', () => {
    fc.assert(
      fc.property(request, target, (original, to) => {
        try {
          const { body, report } = gemini.upstream.renderRequest(original, to);
          expectSound(JSON.parse(JSON.stringify(body)) as JsonObject);
          expect(report.every(({ field, detail }) => field !== '' && detail !== '')).toBe(true);
        } catch (thrown) {
          // Only a conversation without any content is refused.
          if (!(thrown instanceof GatewayError)) throw thrown;
          expect(thrown.message).toContain('the conversation has no content');
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are the same whenever they are rendered', () => {
    fc.assert(
      fc.property(request, target, (original, to) => {
        const render = () => {
          try {
            return gemini.upstream.renderRequest(original, to);
          } catch (thrown) {
            return (thrown as Error).message;
          }
        };
        expect(render()).toEqual(render());
      }),
      RUNS,
    );
  });

  it('hold nothing that another family sealed', () => {
    fc.assert(
      fc.property(request, target, (original, to) => {
        const foreign = original.items.flatMap((each) => {
          if (each.type === 'reasoning' && each.format !== 'google-gemini-v1')
            return [each.signature, each.encrypted];
          const isForeign =
            each.type === 'tool-call' && /^(anthropic|openai|odd)/.test(each.signatureFormat ?? '');
          return isForeign ? [each.signature] : [];
        });
        const seals = new Set(foreign.filter((seal) => seal !== undefined));
        let body: JsonObject = {};
        try {
          ({ body } = gemini.upstream.renderRequest(original, to));
        } catch {
          return;
        }
        const contents = body.contents as { parts: JsonObject[] }[];
        const sent = contents.flatMap(({ parts }) => parts.map((each) => each.thoughtSignature as string));
        expect(sent.filter((seal) => seals.has(seal))).toEqual([]);
      }),
      RUNS,
    );
  });
});
