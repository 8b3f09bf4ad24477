import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import { FULL_BODY, FULL_TURN } from '../../../test/kit/fixtures/bedrock/answers.ts';
import { awsException, awsStream } from '../../../test/kit/fixtures/bedrock/aws-events.ts';
import type { Event } from '../../ir/events.ts';
import { fold } from '../../ir/folding/fold.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { AwsEventReader } from '../../kit/frames/aws-event-frames.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { createDecoder, decodeBody } from './decode.ts';

const NATIVE = 'anthropic-claude-v1';

function decodeBytes(bytes: Uint8Array, request: GenerationRequest = requestOf()): Event[] {
  const reader = new AwsEventReader();
  const decoder = createDecoder({ request, relay: false });
  const frames = [...reader.push(bytes), ...reader.end()];
  return [...frames.flatMap((frame) => decoder.decode(frame)), ...decoder.end()];
}

function decode(events: readonly JsonObject[], request?: GenerationRequest): Event[] {
  return decodeBytes(awsStream(events), request);
}

const delta = (contentBlockIndex: number, change: JsonObject): JsonObject => ({
  contentBlockDelta: { contentBlockIndex, delta: change },
});
const text = (index: number, piece: string): JsonObject => delta(index, { text: piece });
const call = (index: number, toolUse: JsonObject): JsonObject => ({
  contentBlockStart: { contentBlockIndex: index, start: { toolUse } },
});
const stop = (index: number): JsonObject => ({ contentBlockStop: { contentBlockIndex: index } });
const end = (stopReason: string, more: JsonObject = {}): JsonObject[] => [
  { messageStop: { stopReason, ...more } },
  { metadata: { usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 } } },
];

const FULL_ITEMS = [
  { type: 'reasoning', text: ['Two cities, so two calls.'], signature: 'U2lnbmVk', format: NATIVE },
  // Redacted thoughts are bytes here, and text in the messages format.
  { type: 'reasoning', text: [], encrypted: 'Sealed', format: NATIVE },
  { type: 'message', content: [{ type: 'text', text: 'Grüße, ich sehe nach 🌦.' }] },
  { type: 'tool-call', callId: 'tooluse_a', name: 'weather', input: '{"city":"Köln"}' },
  { type: 'tool-call', callId: 'tooluse_b', name: 'now', input: '{}' },
];

const FULL_USAGE = {
  inputTokens: 1610,
  cachedTokens: 1000,
  cacheWriteTokens: 200,
  cacheWrite1hTokens: 400,
  outputTokens: 40,
  source: 'measured',
};

const FULL = {
  items: FULL_ITEMS,
  usage: FULL_USAGE,
  finish: { reason: 'tool-calls', nativeReason: 'tool_use', serviceTier: 'flex' },
  failure: undefined,
};

describe('reading a Converse stream', () => {
  it('reads a whole turn', () => {
    expect(fold(decode(FULL_TURN))).toMatchObject(FULL);
  });

  it('reads frames whose event is named inside', () => {
    const decoder = createDecoder({ request: requestOf(), relay: false });
    const frames = FULL_TURN.map((event) => ({ data: JSON.stringify(event) }));
    expect(fold(frames.flatMap((frame) => decoder.decode(frame)))).toMatchObject(FULL);
    const named = createDecoder({ request: requestOf(), relay: false });
    const twice = FULL_TURN.map((event) => ({
      event: Object.keys(event)[0] ?? '',
      data: JSON.stringify(event),
    }));
    expect(fold(twice.flatMap((frame) => named.decode(frame)))).toMatchObject(FULL);
  });

  it('reads a whole body the same', () => {
    expect(fold(decodeBody(FULL_BODY, { request: requestOf(), relay: false }))).toMatchObject(FULL);
  });

  it('ends with usage and finish, in that order, and reads nothing after them', () => {
    const events = decode([text(0, 'a'), ...end('end_turn'), text(1, 'late')]);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['usage', 'finish']);
    expect(events.filter(({ type }) => type === 'text-delta')).toHaveLength(1);
  });

  it('takes the counts before or after the end, or goes without', () => {
    const [stopped, counted] = end('end_turn') as [JsonObject, JsonObject];
    const usage = { inputTokens: 3, outputTokens: 5 };
    expect(fold(decode([text(0, 'a'), counted, stopped]))).toMatchObject({
      usage,
      finish: { reason: 'stop' },
    });
    expect(fold(decode([text(0, 'a'), stopped, counted]))).toMatchObject({
      usage,
      finish: { reason: 'stop' },
    });
    expect(fold(decode([text(0, 'a'), stopped]))).toMatchObject({
      usage: undefined,
      finish: { reason: 'stop' },
    });
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool-calls'],
    ['guardrail_intervened', 'content-filter'],
    ['content_filtered', 'content-filter'],
    ['refusal', 'refusal'],
    ['constructor', 'stop'],
  ])('takes %s for %s', (native, reason) => {
    expect(fold(decode([call(0, { name: 'f' }), ...end(native)])).finish).toMatchObject({
      reason,
      nativeReason: native,
    });
  });

  it('leaves out calls without a name, in streams and bodies', () => {
    const stream = [
      call(0, { toolUseId: 'x', name: 'f' }),
      call(0, { toolUseId: 'y' }),
      delta(0, { toolUse: { input: '{"a":1}' } }),
      { contentBlockStart: { start: { toolUse: { name: '' } } } },
      { contentBlockDelta: { delta: { toolUse: { input: '{"b":1}' } } } },
    ];
    expect(fold(decode([...stream, ...end('tool_use')]))).toMatchObject({
      items: [{ callId: 'x', input: '{}' }],
      finish: { reason: 'tool-calls' },
    });
    const nameless = { items: [], finish: { reason: 'stop', nativeReason: 'tool_use' } };
    expect(fold(decode([...stream.slice(1), ...end('tool_use')]))).toMatchObject(nameless);
    const body = {
      output: { message: { content: [{ toolUse: { toolUseId: 'x', input: { a: 1 } } }] } },
      stopReason: 'tool_use',
    };
    expect(fold(decodeBody(body, { request: requestOf(), relay: false }))).toMatchObject(nameless);
  });

  it.each(['malformed_model_output', 'malformed_tool_use'])('fails on %s', (native) => {
    const { failure, finish, usage } = fold(decode([text(0, 'a'), ...end(native)]));
    expect(failure).toMatchObject({ kind: 'upstream-unavailable' });
    expect(usage).toMatchObject({ outputTokens: 5 });
    expect(finish).toBeUndefined();
  });

  it('has the stop string, in streams and bodies', () => {
    const stream = decode([
      text(0, 'a'),
      ...end('stop_sequence', { additionalModelResponseFields: { delta: { stop_sequence: 'END' } } }),
    ]);
    expect(fold(stream).finish).toMatchObject({ reason: 'stop', stopSequence: 'END' });
    const body = {
      ...FULL_BODY,
      stopReason: 'stop_sequence',
      additionalModelResponseFields: { stop_sequence: 'END' },
    };
    expect(fold(decodeBody(body, { request: requestOf(), relay: false })).finish).toMatchObject({
      stopSequence: 'END',
    });
    expect(fold(decode([text(0, 'a'), ...end('stop_sequence')])).finish).not.toHaveProperty('stopSequence');
  });

  it('ends what was cut off by the limit as incomplete', () => {
    const { items } = fold(
      decode([
        text(0, 'a'),
        stop(0),
        call(1, { toolUseId: 'x', name: 'f' }),
        delta(1, { toolUse: { input: '{"a' } }),
        ...end('max_tokens'),
      ]),
    );
    expect(items).toMatchObject([
      { type: 'message', status: 'completed' },
      { type: 'tool-call', input: '{"a', status: 'incomplete' },
    ]);
  });

  it('reads calls that are written side by side', () => {
    const { items } = fold(
      decode([
        call(0, { toolUseId: 'x', name: 'f' }),
        call(1, { toolUseId: 'y', name: 'g' }),
        delta(1, { toolUse: { input: '{"b":1}' } }),
        delta(0, { toolUse: { input: '{"a":1}' } }),
        stop(1),
        stop(0),
        ...end('tool_use'),
      ]),
    );
    expect(items).toMatchObject([
      { callId: 'x', name: 'f', input: '{"a":1}', status: 'completed' },
      { callId: 'y', name: 'g', input: '{"b":1}', status: 'completed' },
    ]);
  });

  it('gives calls without an id one that no earlier turn has', () => {
    const { items } = fold(decode([call(0, { name: 'f' }), call(1, { name: 'f' }), ...end('tool_use')]));
    expect(items).toMatchObject([{ callId: 'tooluse_turn1_0' }, { callId: 'tooluse_turn1_1' }]);
  });

  it('maps tools back to what the caller declared', () => {
    const request = requestOf({
      tools: [
        { type: 'custom', name: 'patch' },
        { type: 'function', name: 'list', namespace: { name: 'files' } },
      ],
    });
    const { items } = fold(
      decode(
        [
          call(0, { toolUseId: 'x', name: 'patch' }),
          delta(0, { toolUse: { input: '{"input":"a\\n' } }),
          delta(0, { toolUse: { input: 'b"}' } }),
          call(1, { toolUseId: 'y', name: 'files__list' }),
          ...end('tool_use'),
        ],
        request,
      ),
    );
    expect(items).toMatchObject([
      { kind: 'custom', name: 'patch', input: 'a\nb' },
      { kind: 'function', name: 'list', namespace: 'files', input: '{}' },
    ]);
  });

  it('takes blocks of text in a row for one message', () => {
    const { items } = fold(decode([text(0, 'a'), stop(0), text(1, ''), text(1, 'b'), ...end('end_turn')]));
    expect(items).toMatchObject([{ type: 'message', content: [{ text: 'a' }, { text: 'b' }] }]);
  });

  it('reads the stream of a server that reuses an index or leaves it out', () => {
    const { items } = fold(
      decode([
        delta(0, { reasoningContent: { text: 'hm' } }),
        text(0, 'a'),
        { contentBlockDelta: { delta: { text: 'b' } } },
        { contentBlockStart: { start: { toolUse: { toolUseId: 'x', name: 'f' } } } },
        { contentBlockDelta: { delta: { toolUse: { input: '{}' } } } },
        { contentBlockStop: {} },
        delta(9, { toolUse: { input: 'nobody began this' } }),
        { contentBlockDelta: { contentBlockIndex: 1, delta: 'odd' } },
        { soonToCome: { contentBlockIndex: 1 } },
        ...end('tool_use'),
      ]),
    );
    expect(items).toMatchObject([
      { type: 'reasoning', text: ['hm'] },
      { type: 'message', content: [{ text: 'ab' }] },
      { type: 'tool-call', callId: 'x', input: '{}' },
    ]);
  });

  it('keeps redacted thoughts that are no text byte for byte', () => {
    const redactedContent = Buffer.from([0xff, 0xfe, 0]).toString('base64');
    const { items } = fold(decode([delta(0, { reasoningContent: { redactedContent } }), ...end('end_turn')]));
    expect(items).toMatchObject([{ encrypted: redactedContent, format: 'amazon-bedrock-v1' }]);
  });

  it('reads images', () => {
    const { items } = fold(
      decode([
        { contentBlockStart: { contentBlockIndex: 0, start: { image: { format: 'webp' } } } },
        delta(0, { image: { source: { bytes: 'AAAA' } } }),
        delta(0, { image: { source: { bytes: 'BBBB' } } }),
        ...end('end_turn'),
      ]),
    );
    expect(items).toMatchObject([
      { type: 'image', source: { kind: 'base64', mediaType: 'image/webp', data: 'AAAABBBB' } },
    ]);
    const content = [{ image: { format: 'png', source: { bytes: 'AAAA' } } }];
    const body = { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn' };
    expect(fold(decodeBody(body, { request: requestOf(), relay: false })).items).toMatchObject([
      { type: 'image', source: { mediaType: 'image/png', data: 'AAAA' } },
    ]);
  });

  it('reads citations', () => {
    const web = {
      title: 'Rome',
      source: 's',
      sourceContent: [{ text: 'A ' }, { text: 'city' }],
      location: { web: { url: 'https://a.example/', domain: 'a.example' } },
    };
    const page = {
      title: 'Guide',
      sourceContent: [{ text: 'old' }],
      location: { documentPage: { documentIndex: 1, start: 2, end: 3 } },
    };
    const odd = { title: 'Elsewhere', location: { moon: { crater: 1 } } };
    const annotations = [
      { type: 'url-citation', url: 'https://a.example/', title: 'Rome', content: 'A city' },
      {
        type: 'opaque',
        dialect: 'messages',
        value: {
          type: 'page_location',
          cited_text: 'old',
          document_index: 1,
          document_title: 'Guide',
          file_id: null,
          start_page_number: 2,
          end_page_number: 3,
        },
      },
      { type: 'opaque', dialect: 'bedrock', value: odd },
    ];
    const stream = [web, page, odd].map((citation) => delta(0, { citation }));
    expect(fold(decode([text(0, 'Rome.'), ...stream, ...end('end_turn')])).items).toMatchObject([
      { content: [{ text: 'Rome.', annotations }] },
    ]);
    const content = [{ citationsContent: { content: [{ text: 'Rome.' }], citations: [web, page, odd] } }];
    const body = { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn' };
    expect(fold(decodeBody(body, { request: requestOf(), relay: false })).items).toMatchObject([
      { content: [{ text: 'Rome.', annotations }] },
    ]);
  });
});

describe('usage', () => {
  it.each<[JsonObject, object | undefined]>([
    [
      { inputTokens: 3, outputTokens: 5 },
      { inputTokens: 3, cachedTokens: 0, outputTokens: 5 },
    ],
    [
      { inputTokens: 0, outputTokens: 0, cacheReadInputTokens: 7 },
      { inputTokens: 7, cachedTokens: 7, outputTokens: 0 },
    ],
    [
      { inputTokens: 1, outputTokens: 1, cacheWriteInputTokens: 9 },
      { inputTokens: 10, cacheWriteTokens: 9, cacheWrite1hTokens: 0 },
    ],
    [
      { inputTokens: 1, outputTokens: 1, cacheDetails: [{ ttl: '1h', inputTokens: 4 }] },
      { inputTokens: 5, cacheWriteTokens: 0, cacheWrite1hTokens: 4 },
    ],
    [
      { inputTokens: 1, outputTokens: 1, cacheReadInputTokens: -4, cacheWriteInputTokens: 1.5 },
      { inputTokens: 1, cachedTokens: 0 },
    ],
    [{ inputTokens: 3 }, undefined],
    [{ inputTokens: -1, outputTokens: 5 }, undefined],
  ])('%j is %j', (usage, expected) => {
    const result = fold(
      decode([text(0, 'a'), { messageStop: { stopReason: 'end_turn' } }, { metadata: { usage } }]),
    );
    if (expected === undefined) expect(result.usage).toBeUndefined();
    else expect(result.usage).toMatchObject(expected);
    expect(result.finish).toBeDefined();
  });
});

describe('a failure in a stream', () => {
  it.each([
    ['throttlingException', 'Too many requests', {}, 'rate-limited'],
    ['serviceQuotaExceededException', 'Quota', {}, 'rate-limited'],
    ['serviceUnavailableException', 'Not now', {}, 'overloaded'],
    ['modelNotReadyException', 'Not yet', {}, 'overloaded'],
    ['modelTimeoutException', 'Too slow', {}, 'upstream-timeout'],
    ['internalServerException', 'Oops', {}, 'upstream-unavailable'],
    ['modelStreamErrorException', 'Oops', { originalStatusCode: 500 }, 'upstream-unavailable'],
    ['modelStreamErrorException', 'Oops', { originalStatusCode: 529 }, 'upstream-overloaded'],
    ['modelStreamErrorException', 'Oops', { originalStatusCode: 429 }, 'rate-limited'],
    ['validationException', 'Unexpected field', {}, 'invalid-request'],
    ['validationException', 'Input is too long for requested model.', {}, 'context-length'],
    ['someNewException', 'Oops', {}, 'upstream-unavailable'],
  ])('%s "%s" %j is %s', (name, message, more, kind) => {
    const bytes = Buffer.concat([awsStream([text(0, 'a')]), awsException(name, { message, ...more })]);
    const { failure, items } = fold(decodeBytes(bytes));
    expect(failure).toMatchObject({ kind, message, metadata: { provider_code: name } });
    expect(items).toMatchObject([{ content: [{ text: 'a' }] }]);
  });

  it('is one also when it is wrapped, or has no payload that can be read', () => {
    const wrapped = createDecoder({ request: requestOf(), relay: false });
    expect(wrapped.decode({ data: '{"throttlingException":{"message":"slow"}}' })).toMatchObject([
      { type: 'failure', error: { kind: 'rate-limited', message: 'slow' } },
    ]);
    expect(wrapped.end()).toEqual([]);
    const bare = createDecoder({ request: requestOf(), relay: false });
    expect(bare.decode({ event: 'throttlingException', data: '<html>' })).toMatchObject([
      { type: 'failure', error: { kind: 'rate-limited' } },
    ]);
    const unnamed = createDecoder({ request: requestOf(), relay: false });
    expect(unnamed.decode({ data: '{"message":"no"}' })).toMatchObject([{ type: 'failure' }]);
  });

  it('is a stream that breaks off', () => {
    expect(decode([text(0, 'a')]).at(-1)).toMatchObject({
      type: 'failure',
      error: { kind: 'upstream-unavailable' },
    });
  });

  it.each([
    ['cut off', '{"contentBlockIndex":0,"delta":{"te'],
    ['too deep', `{"delta":${'['.repeat(70)}${']'.repeat(70)}}`],
    ['too full', `{"delta":[${'1,'.repeat(50_000)}1]}`],
  ])('is an event that is %s', (_name, data) => {
    const decoder = createDecoder({ request: requestOf(), relay: false });
    decoder.decode({ event: 'contentBlockDelta', data: '{"contentBlockIndex":0,"delta":{"text":"a"}}' });
    expect(decoder.decode({ event: 'contentBlockDelta', data })).toMatchObject([
      {
        type: 'failure',
        error: {
          kind: 'upstream-unavailable',
          message: 'The provider sent an event that cannot be read',
        },
      },
    ]);
    expect(decoder.end()).toEqual([]);
  });

  it('is no unreadable frame after the end', () => {
    const decoder = createDecoder({ request: requestOf(), relay: false });
    decoder.decode({ event: 'messageStop', data: '{"stopReason":"end_turn"}' });
    expect(decoder.decode({ event: 'metadata', data: '{"usage":' })).toEqual([]);
    expect(decoder.end()).toMatchObject([{ type: 'finish', reason: 'stop' }]);
  });

  it('is not a frame of something else', () => {
    const decoder = createDecoder({ request: requestOf(), relay: false });
    for (const data of ['', 'no json', '[]', '5', '{}', '{"later":1}']) {
      expect(decoder.decode({ data })).toEqual([]);
      expect(decoder.decode({ event: 'metadata', data })).toEqual([]);
    }
  });
});

describe('a body that is no answer', () => {
  it.each<[JsonObject, string, string]>([
    [{ message: 'Slow down', __type: 'ThrottlingException' }, 'rate-limited', 'Slow down'],
    [{ Message: 'No', code: 'X' }, 'upstream-unavailable', 'No'],
    [{}, 'upstream-unavailable', 'The provider sent an answer that is no message'],
    [{ output: { message: {} } }, 'upstream-unavailable', 'The provider sent an answer that is no message'],
  ])('%j fails', (body, kind, message) => {
    expect(decodeBody(body, { request: requestOf(), relay: false })).toMatchObject([
      { type: 'failure', error: { kind, message } },
    ]);
  });
});
