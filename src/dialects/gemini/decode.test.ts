import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import {
  answerOf,
  decodeBytes,
  decodeChunks,
  fixture,
} from '../../../test/kit/fixtures/gemini/gemini-fixture.ts';
import { fold } from '../../ir/folding/fold.ts';
import type { Item } from '../../ir/items.ts';
import type { Tool } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { gemini } from './index.ts';

const NATIVE = 'google-gemini-v1';

const message = (text: string, more: object = {}): Item => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text, ...more }],
  status: 'completed',
});

const sealed = (seal: Partial<Extract<Item, { type: 'reasoning' }>>): Item => ({
  type: 'reasoning',
  text: [],
  summary: [],
  format: NATIVE,
  status: 'completed',
  ...seal,
});

const called = (place: number, name: string, input: string, more: object = {}): Item => ({
  type: 'tool-call',
  kind: 'function',
  callId: `call_resp-Abc_1_${place}`,
  name,
  input,
  status: 'completed',
  ...more,
});

const signed = (signature: string) => ({ signature, signatureFormat: NATIVE });

/** Events of each recorded stream; members that are not named do not matter. */
const MEANINGS: Readonly<Record<string, Partial<Result>>> = {
  text: {
    items: [message('Grüße aus 東京 😀')],
    finish: { type: 'finish', reason: 'stop', nativeReason: 'STOP' },
    upstreamId: 'resp-Abc_1',
    upstreamModel: 'gemini-test-1',
  },
  thoughts: {
    items: [
      sealed({ text: ['I should count.'], signature: 'c2lnLXRob3VnaHQ=' }),
      message('Three.'),
      sealed({ encrypted: 'c2lnLWVuZA==' }),
    ],
    finish: { type: 'finish', reason: 'stop', nativeReason: 'STOP' },
  },
  'signed-words': { items: [message('Done.'), sealed({ signature: 'c2lnLXdvcmRz' })] },
  'parallel-calls': {
    items: [
      message('Looking.'),
      sealed({ id: 'call_resp-Abc_1_0', encrypted: 'c2lnLWNhbGw=' }),
      called(0, 'weather', '{"city":"Oslo","days":2}', signed('c2lnLWNhbGw=')),
      called(1, 'weather', '{"city":"Rom"}'),
      called(2, 'now', '{}', { callId: 'gemini_fc-1' }),
    ],
    finish: { type: 'finish', reason: 'tool-calls', nativeReason: 'STOP' },
  },
  'partial-arguments': {
    items: [
      sealed({ id: 'call_resp-Abc_1_0', encrypted: 'c2lnLXBhcnQ=' }),
      called(
        0,
        'book',
        '{"guests":[{"name":"Ann"},{"name":"Bo"}],"nights":3,"late":false,"a note":null}',
        signed('c2lnLXBhcnQ='),
      ),
      called(1, 'now', '{}'),
    ],
    finish: { type: 'finish', reason: 'tool-calls', nativeReason: 'STOP' },
  },
  length: {
    items: [{ ...message('Once upon a'), status: 'incomplete' }] as Item[],
    finish: { type: 'finish', reason: 'length', nativeReason: 'MAX_TOKENS' },
  },
  safety: {
    items: [{ ...message('First you'), status: 'incomplete' }] as Item[],
    finish: {
      type: 'finish',
      reason: 'content-filter',
      nativeReason: 'SAFETY',
      category: 'safety',
      explanation: 'Stopped for safety.',
    },
  },
  'blocked-prompt': {
    items: [],
    finish: {
      type: 'finish',
      reason: 'refusal',
      nativeReason: 'PROHIBITED_CONTENT',
      category: 'prohibited_content',
      explanation: 'The provider refused the prompt (PROHIBITED_CONTENT).',
    },
  },
  sources: {
    items: [
      message('Größe: 12. Alt: 7.', {
        annotations: [
          {
            type: 'url-citation',
            url: 'https://a.example/',
            title: 'A',
            startIndex: 0,
            endIndex: 11,
            content: 'Größe: 12. ',
          },
          {
            type: 'url-citation',
            url: 'https://a.example/',
            title: 'A',
            startIndex: 11,
            endIndex: 18,
            content: 'Alt: 7.',
          },
          {
            type: 'url-citation',
            url: 'https://b.example/',
            title: 'B',
            startIndex: 11,
            endIndex: 18,
            content: 'Alt: 7.',
          },
        ],
      }),
    ],
  },
  logprobs: {
    items: [
      message('Hé', {
        logprobs: [
          {
            token: 'Hé',
            logprob: -0.25,
            bytes: [72, 195, 169],
            top_logprobs: [
              { token: 'Hé', logprob: -0.25, bytes: [72, 195, 169] },
              { token: 'Ho', logprob: -2, bytes: [72, 111] },
            ],
          },
        ],
      }),
    ],
  },
  image: {
    items: [
      message('Here: '),
      {
        type: 'image',
        source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0=' },
        status: 'completed',
      },
      sealed({ signature: 'c2lnLWltYWdl' }),
    ],
  },
  'odd-server': {
    items: [message('AB')],
    finish: { type: 'finish', reason: 'stop', nativeReason: 'STOP' },
  },
};

describe('recorded streams', () => {
  it.each(Object.entries(MEANINGS))('%s', (name, meaning) => {
    expect(fold(decodeBytes(fixture(name)))).toMatchObject(meaning);
  });

  it.each(Object.keys(MEANINGS))('%s, whatever the pieces', (name) => {
    const bytes = fixture(name);
    const whole = fold(decodeBytes(bytes));
    for (const size of [1, 3, 50]) {
      const cuts = Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => index * size);
      expect(fold(decodeBytes(bytes, cuts))).toEqual(whole);
    }
  });
});

describe('token counts', () => {
  const counts = (usageMetadata: JsonObject) =>
    fold(decodeChunks([{ ...answerOf([{ text: 'x' }]), usageMetadata }])).usage;

  it.each<[string, Partial<Result['usage']>]>([
    ['text', { inputTokens: 5, outputTokens: 4, reasoningTokens: 0, source: 'measured' }],
    ['thoughts', { inputTokens: 5, outputTokens: 10, reasoningTokens: 9 }],
    ['cached', { inputTokens: 2000, cachedTokens: 1536, outputTokens: 1 }],
    ['image', { outputTokens: 1294, imageTokens: 1290 }],
    ['sources', { inputTokens: 35, outputTokens: 8, webSearchRequests: 2 }],
    ['blocked-prompt', { inputTokens: 8, outputTokens: 0 }],
    ['odd-server', { inputTokens: 5, outputTokens: 3 }],
  ])('of %s', (name, usage) => {
    expect(fold(decodeBytes(fixture(name))).usage).toMatchObject(usage as object);
  });

  it('come before the end', () => {
    const types = decodeBytes(fixture('text')).map(({ type }) => type);
    expect(types.slice(-4)).toEqual(['usage', 'part-end', 'item-end', 'finish']);
  });

  it.each([
    ['gemini-2.5-flash', 1],
    ['gemini-3.1-pro-preview', 3],
    ['some-model', 3],
  ])('of three queries of %s: %d billed searches', (modelVersion, searches) => {
    const candidates = (answerOf([{ text: 'x' }]).candidates as JsonObject[]).map((candidate) => ({
      ...candidate,
      groundingMetadata: { webSearchQueries: ['a', 'b', 'c'] },
    }));
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 9 };
    const { usage } = fold(decodeChunks([{ candidates, modelVersion, usageMetadata }]));
    expect(usage?.webSearchRequests).toBe(searches);
  });

  it('leave thoughts out where the total says that the candidates hold them', () => {
    const inside = {
      promptTokenCount: 10,
      candidatesTokenCount: 30,
      thoughtsTokenCount: 20,
      totalTokenCount: 40,
    };
    expect(counts(inside)).toMatchObject({ outputTokens: 30, reasoningTokens: 20 });
  });

  it('are made good from the total where one is missing', () => {
    expect(counts({ promptTokenCount: 10, thoughtsTokenCount: 4, totalTokenCount: 20 })).toMatchObject({
      inputTokens: 10,
      outputTokens: 10,
    });
    expect(counts({ candidatesTokenCount: 6, totalTokenCount: 20 })).toMatchObject({ inputTokens: 14 });
  });

  it('are missing where they make no sense', () => {
    expect(counts({ trafficType: 'ON_DEMAND' })).toBeUndefined();
    expect(counts({ promptTokenCount: -1, candidatesTokenCount: 4 })).toBeUndefined();
    expect(
      counts({ promptTokenCount: 5, candidatesTokenCount: 3, cachedContentTokenCount: 9 }),
    ).toMatchObject({
      cachedTokens: 5,
    });
  });
});

describe('answers that fail', () => {
  const failureIn = (events: ReturnType<typeof decodeBytes>) => {
    const { failure, finish } = fold(events);
    expect(finish).toBeUndefined();
    expect(events.filter(({ type }) => type === 'failure')).toHaveLength(1);
    return { kind: failure?.kind, message: failure?.message };
  };

  it.each([
    ['error-in-stream', 'upstream-overloaded', 'The model is overloaded.'],
    ['malformed-call', 'upstream-unavailable', 'The model wrote a tool call that cannot be read'],
    ['cut', 'upstream-unavailable', 'The provider ended the stream before the answer was complete'],
  ])('%s', (name, kind, words) => {
    expect(failureIn(decodeBytes(fixture(name)))).toEqual({ kind, message: words });
  });

  it('has the time to wait', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }];
    const error = { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED', details };
    const { failure } = fold(decodeChunks([{ error }]));
    expect(failure).toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 7 });
  });

  it('is one without an answer', () => {
    const { finishReason: _, ...empty } = (answerOf([]).candidates as JsonObject[])[0] as JsonObject;
    expect(failureIn(decodeChunks([{ candidates: [{ ...empty, finishReason: 'OTHER' }] }]))).toEqual({
      kind: 'upstream-unavailable',
      message: 'The provider stopped without an answer (OTHER)',
    });
  });

  it.each([
    ['cut off', '{"candidates":[{"content":{"parts":[{"te'],
    ['cut off in its list', '[{"candidates":'],
    ['too deep', `{"candidates":${'['.repeat(70)}${']'.repeat(70)}}`],
    ['too full', `{"candidates":[${'1,'.repeat(50_000)}1]}`],
  ])('is one with an event that is %s', (_name, data) => {
    const whole = JSON.stringify(answerOf([{ text: 'end' }]));
    const bytes = Buffer.from(`data: ${data}\n\ndata: ${whole}\n\n`);
    expect(failureIn(decodeBytes(bytes))).toEqual({
      kind: 'upstream-unavailable',
      message: 'The provider sent an event that cannot be read',
    });
  });

  it('ignores frames that are no events', () => {
    const whole = JSON.stringify([answerOf([{ text: 'end' }])]);
    const bytes = Buffer.from(`data: [DONE]\n\ndata: hello\n\ndata: ${whole}\n\n`);
    expect(fold(decodeBytes(bytes))).toMatchObject({ items: [message('end')], finish: { reason: 'stop' } });
  });

  it('fails on arguments that no call could hold', () => {
    const partialArgs = [{ jsonPath: `$.a${'[9999]'.repeat(62)}`, numberValue: 1 }];
    const call = { functionCall: { name: 'f', willContinue: true, partialArgs } };
    const words = 'The provider sent a tool call with more arguments than the gateway takes';
    const failed = { kind: 'upstream-unavailable', message: words };
    const chunks = [answerOf([call, { text: 'late' }]), answerOf([{ text: 'later' }])];
    const events = decodeChunks(chunks);
    expect(failureIn(events)).toEqual(failed);
    expect(events.at(-1)?.type).toBe('failure');
    const context = { request: requestOf(), relay: false };
    expect(failureIn(gemini.upstream.decodeBody(answerOf([call]), context))).toEqual(failed);
  });

  it('emits nothing after the end', () => {
    const chunks = [{ error: { message: 'no' } }, answerOf([{ text: 'late' }])];
    expect(decodeChunks(chunks).map(({ type }) => type)).toEqual(['failure']);
  });
});

describe('whole bodies', () => {
  const context = { request: requestOf(), relay: false };

  it('mean what the stream means', () => {
    const parts = [
      { text: 'Hm.', thought: true },
      { text: 'Yes. ', thoughtSignature: 'AA==' },
      { functionCall: { name: 'f', args: {} }, thoughtSignature: 'BB==' },
    ];
    const stream = [
      {
        candidates: [{ content: { parts: [parts[0]] } }],
        responseId: 'resp-Abc_1',
        modelVersion: 'gemini-test-1',
      },
      { candidates: [{ content: { parts: [parts[1]] } }] },
      answerOf([parts[2] as JsonObject]),
    ];
    expect(fold(gemini.upstream.decodeBody(answerOf(parts), context))).toEqual(
      fold(decodeChunks(stream as never)),
    );
  });

  it.each<[string, JsonObject]>([
    ['nothing', {}],
    ['something else', { choices: [] }],
    ['an error', { error: { code: 500, message: 'Internal', status: 'INTERNAL' } }],
  ])('with %s fail', (_name, body) => {
    expect(fold(gemini.upstream.decodeBody(body, context)).failure?.kind).toBe('upstream-unavailable');
  });

  it('with a refused prompt are refusals', () => {
    const body = { promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'Not this.' } };
    expect(fold(gemini.upstream.decodeBody(body, context)).finish).toMatchObject({
      reason: 'refusal',
      category: 'safety',
      explanation: 'Not this.',
    });
  });

  it.each([
    { executableCode: { language: 'PYTHON', code: '1' } },
    {
      toolCall: { id: 'a', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['x'] } },
      thoughtSignature: 'c2ln',
    },
    { toolResponse: { id: 'a', toolType: 'GOOGLE_SEARCH_WEB', response: { results: [] } } },
  ])('keep parts of unknown types', (part) => {
    const [item] = fold(gemini.upstream.decodeBody(answerOf([part]), context)).items;
    expect(item).toEqual({ type: 'opaque', dialect: 'gemini', value: part, role: 'assistant' });
  });
});

describe('an answer that the upstream cuts at its own limit', () => {
  it('ends as one that is incomplete, not as a whole one', () => {
    const context = { request: requestOf(), relay: false };
    const body = answerOf([{ text: 'Once' }]);
    const [candidate] = body.candidates as JsonObject[];
    const cut = { ...candidate, finishReason: 'CONTINUATION', continuationToken: 'dG9rZW4=' };
    const { items, finish } = fold(gemini.upstream.decodeBody({ ...body, candidates: [cut] }, context));
    expect(items).toMatchObject([{ type: 'message', status: 'incomplete' }]);
    expect(finish).toMatchObject({ reason: 'length', nativeReason: 'CONTINUATION' });
  });
});

describe('the tier that served', () => {
  it.each([
    [{ serviceTier: 'flex' }, 'flex'],
    [{ serviceTier: 'standard' }, 'default'],
    [{ trafficType: 'ON_DEMAND_PRIORITY' }, 'priority'],
    [{ trafficType: 'PROVISIONED_THROUGHPUT' }, undefined],
  ])('is read from the usage %o', (named, tier) => {
    const context = { request: requestOf(), relay: false };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2, ...named };
    const body = { ...answerOf([{ text: 'Hi' }]), usageMetadata };
    expect(fold(gemini.upstream.decodeBody(body, context)).finish?.serviceTier).toBe(tier);
  });
});

describe('names of tools', () => {
  const tools: Tool[] = [
    { type: 'custom', name: 'free' },
    { type: 'function', name: 'f', namespace: { name: 'group' } },
    { type: 'function', name: '2nd' },
    { type: 'function', name: '_2nd' },
  ];

  it('come back as the caller wrote them', () => {
    const call = (name: string, args: JsonObject) => ({ functionCall: { name, args } });
    const parts = [
      call('free', { input: 'a\nb' }),
      call('group__f', {}),
      call('_2nd_2', {}),
      call('_2nd', {}),
    ];
    const { items } = fold(decodeChunks([answerOf(parts)], requestOf({ tools })));
    expect(items).toMatchObject([
      { kind: 'custom', name: 'free', input: 'a\nb' },
      { kind: 'function', name: 'f', namespace: 'group', input: '{}' },
      { kind: 'function', name: '2nd' },
      { kind: 'function', name: '_2nd' },
    ]);
  });
});
