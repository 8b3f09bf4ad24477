import { describe, expect, it } from 'vitest';
import { answerOf, decodeChunks } from '../../../test/kit/fixtures/gemini/gemini-fixture.ts';
import type { Event } from '../../ir/events.ts';
import { fold } from '../../ir/folding/fold.ts';
import type { Format } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { SseReader } from '../../kit/frames/sse.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsAt } from '../../kit/json/members.ts';
import { chat } from '../chat/index.ts';
import type { ConversationInbound, ReplyContext } from '../dialect.ts';
import { messages } from '../messages/index.ts';
import { responses } from '../responses/index.ts';
import { gemini } from './index.ts';

/** Signatures go back byte for byte, onto the parts that they came on, through every format that callers speak. */

const SIGNATURE = 'EpwICpkIAXLI2nxl/UfgsWZaZHRYkX1o+rzuM8vSUFwaAt1JRxEC2hJzPA==';
const OTHER = 'AAAB+/==';

const TARGET = { model: 'gemini-2.5-flash', hashUser: (id: string) => id };

const f: JsonObject = { type: 'object', properties: { a: { type: 'number' } } };

/** How a caller of each format asks, and sends back what it got together with the results of the calls. */
const CALLERS: Readonly<Record<Format, Caller>> = {
  responses: {
    dialect: responses.inbound,
    ask: (more) => ({
      model: 'a/b',
      input: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', name: 'f', parameters: f }],
      ...more,
    }),
    collect: (chunks) => objectAt(chunks.at(-1), 'response') ?? {},
    replay: (asked, body, ids) => ({
      ...asked,
      input: [
        ...objectsAt(asked, 'input'),
        ...objectsAt(body, 'output'),
        ...ids.map((call_id) => ({ type: 'function_call_output', call_id, output: '7' })),
        { role: 'user', content: 'Go on' },
      ],
    }),
  },
  messages: {
    dialect: messages.inbound,
    ask: (more) => ({
      model: 'a/b',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'f', input_schema: f }],
      ...more,
    }),
    collect: (chunks) => ({ content: collectBlocks(chunks) }),
    replay: (asked, body, ids) => ({
      ...asked,
      messages: [
        ...objectsAt(asked, 'messages'),
        { role: 'assistant', content: body.content },
        {
          role: 'user',
          content: [
            ...ids.map((tool_use_id) => ({ type: 'tool_result', tool_use_id, content: '7' })),
            { type: 'text', text: 'Go on' },
          ],
        },
      ],
    }),
  },
  chat: {
    dialect: chat.inbound,
    ask: (more) => ({
      model: 'a/b',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', function: { name: 'f', parameters: f } }],
      ...more,
    }),
    collect: (chunks) => ({ choices: [{ message: collectMessage(chunks) }] }),
    replay: (asked, body, ids) => ({
      ...asked,
      messages: [
        ...objectsAt(asked, 'messages'),
        objectAt(objectsAt(body, 'choices')[0], 'message') ?? {},
        ...ids.map((tool_call_id) => ({ role: 'tool', tool_call_id, content: '7' })),
        { role: 'user', content: 'Go on' },
      ],
    }),
  },
};

interface Caller {
  readonly dialect: ConversationInbound;
  readonly ask: (more: JsonObject) => JsonObject;
  readonly collect: (chunks: readonly JsonObject[]) => JsonObject;
  readonly replay: (asked: JsonObject, body: JsonObject, callIds: readonly string[]) => JsonObject;
}

/** The blocks of a stream of the messages format. */
function collectBlocks(chunks: readonly JsonObject[]): JsonObject[] {
  const blocks: Record<string, string | JsonObject | undefined>[] = [];
  const inputs: string[] = [];
  for (const { type, index, content_block, delta } of chunks as any[]) {
    if (type === 'content_block_start') blocks[index] = { ...content_block };
    if (type !== 'content_block_delta') continue;
    const block = blocks[index]!;
    for (const name of ['text', 'thinking', 'signature']) {
      if (delta[name] !== undefined) block[name] = `${block[name] ?? ''}${delta[name]}`;
    }
    if (delta.partial_json !== undefined) inputs[index] = (inputs[index] ?? '') + delta.partial_json;
  }
  return blocks.map((block, index) =>
    inputs[index] === undefined ? block : { ...block, input: JSON.parse(inputs[index]) },
  );
}

/** The message of a stream of the chat format. */
function collectMessage(chunks: readonly JsonObject[]): JsonObject {
  const message: any = { role: 'assistant', content: '', reasoning_details: [], tool_calls: [], images: [] };
  for (const chunk of chunks as any[]) {
    const { content, reasoning_details = [], tool_calls = [], images = [] } = chunk.choices[0].delta;
    message.content += content ?? '';
    message.reasoning_details.push(...reasoning_details);
    message.images.push(...images);
    for (const { index, ...piece } of tool_calls) {
      const known = message.tool_calls[index];
      if (known === undefined) message.tool_calls[index] = piece;
      else known.function.arguments += piece.function.arguments;
    }
  }
  return message;
}

function replyTo(request: GenerationRequest): ReplyContext {
  return {
    vendor: 'acme',
    request,
    generationId: 'gen-1-Xyz',
    createdAtMs: 0,
    now: () => 0,
    model: 'a/b',
    provider: 'Google',
    serviceTier: 'default',
  };
}

const settled = {
  usage: NO_USAGE,
  bill: { totalNanos: 0n, inputNanos: 0n, outputNanos: 0n, isByok: false },
};

/** The body that the caller gets: as such, or put together from the stream as clients do it. */
const REPLIES = {
  body: (events: readonly Event[], context: ReplyContext): JsonObject => {
    const { dialect } = CALLERS[context.request.format as Format];
    return JSON.parse(
      JSON.stringify(dialect.encodeBody({ ...fold(events), settled }, context)),
    ) as JsonObject;
  },
  stream: (events: readonly Event[], context: ReplyContext): JsonObject => {
    const { dialect, collect } = CALLERS[context.request.format as Format];
    const encoder = dialect.createEncoder(context);
    const text = events.map((event) =>
      encoder.encode([event.type === 'finish' ? { ...event, settled } : event]),
    );
    const frames = new SseReader().push(Buffer.from(text.join('')));
    const chunks = frames.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data));
    return collect(chunks as JsonObject[]);
  },
};

/** The model's turn as rendered for the upstream. */
function replayed(
  format: Format,
  parts: readonly JsonObject[],
  { way = 'body', more = {}, model = TARGET.model }: Way = {},
) {
  const { dialect, ask, replay } = CALLERS[format];
  const asked = ask(more);
  const request = dialect.parseRequest(asked, { vendor: 'acme' });
  const events = decodeChunks([answerOf(parts)], request);
  const ids = fold(events).items.flatMap((item) => (item.type === 'tool-call' ? [item.callId] : []));
  const body = REPLIES[way](events, replyTo(request));
  const again = dialect.parseRequest(replay(asked, body, ids), { vendor: 'acme' });
  const rendered = gemini.upstream.renderRequest(again, { ...TARGET, model });
  const contents = objectsAt(rendered.body, 'contents');
  return { parts: objectsAt(contents[1], 'parts'), contents, report: rendered.report };
}

interface Way {
  readonly way?: keyof typeof REPLIES;
  readonly more?: JsonObject;
  readonly model?: string;
}

const call = (a: number, thoughtSignature?: string): JsonObject => ({
  functionCall: { name: 'f', args: { a } },
  ...(thoughtSignature !== undefined && { thoughtSignature }),
});

const TURNS: Readonly<Record<string, readonly JsonObject[]>> = {
  'a call': [call(1, SIGNATURE)],
  'the first of several calls': [call(1, SIGNATURE), call(2)],
  'every one of several calls': [call(1, SIGNATURE), call(2, OTHER)],
  'a call after words': [{ text: 'Let me see.' }, call(1, SIGNATURE)],
  words: [{ text: 'Four.', thoughtSignature: SIGNATURE }],
  'an empty part after words': [{ text: 'Four.' }, { text: '', thoughtSignature: SIGNATURE }],
  'a thought': [{ text: 'Two and two', thought: true, thoughtSignature: SIGNATURE }, { text: 'Four.' }],
  'a thought and words': [
    { text: 'Two and two', thought: true, thoughtSignature: SIGNATURE },
    { text: 'Four.', thoughtSignature: OTHER },
  ],
  'thoughts without, and a call with': [{ text: 'Hm.', thought: true }, call(1, SIGNATURE)],
};

describe.each(['responses', 'messages', 'chat'] as const)('signatures through the %s format', (format) => {
  describe.each(['body', 'stream'] as const)('in a %s', (way) => {
    it.each(Object.entries(TURNS))('on %s', (_name, parts) => {
      const { parts: back, report } = replayed(format, parts, { way });
      expect(back).toEqual(parts);
      expect(report).toEqual([]);
    });
  });

  it('on a call whose caller wants no thoughts', () => {
    const more = format === 'messages' ? {} : { reasoning: { effort: 'low', exclude: true } };
    expect(replayed(format, [call(1, SIGNATURE)], { more }).parts).toEqual([call(1, SIGNATURE)]);
  });

  it('gives every call its result, right after the turn', () => {
    const { contents } = replayed(format, [call(1, SIGNATURE), call(2)]);
    expect(contents.map(({ role }) => role)).toEqual(['user', 'model', 'user', 'user']);
    const response = { functionResponse: { name: 'f', response: { output: '7' } } };
    expect(objectsAt(contents[2], 'parts')).toEqual([response, response]);
  });
});

describe.each(['responses', 'messages', 'chat'] as const)('ids of calls through the %s format', (format) => {
  const named = (id: string, a: number): JsonObject => ({ functionCall: { id, name: 'f', args: { a } } });

  it('go back with the calls and with their results', () => {
    const turn = [named('nytjz7nx', 1), named('call-2', 2), named('a.b', 3), named('i'.repeat(80), 4)];
    const { parts, contents } = replayed(format, turn);
    expect(parts).toEqual(turn);
    expect(objectsAt(contents[2], 'parts').map((part) => objectAt(part, 'functionResponse')?.id)).toEqual([
      'nytjz7nx',
      'call-2',
      'a.b',
      'i'.repeat(80),
    ]);
  });

  it('that no caller could take are not sent, and neither are ours', () => {
    const { parts, contents } = replayed(format, [named('i'.repeat(300), 1), call(2)]);
    expect(parts).toEqual([call(1), call(2)]);
    expect(objectsAt(contents[2], 'parts').some((part) => objectAt(part, 'functionResponse')?.id)).toBe(
      false,
    );
  });
});

describe('signatures of images', () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: SIGNATURE };

  it.each(['responses', 'chat'] as const)('go back onto them through the %s format', (format) => {
    expect(replayed(format, [{ text: 'Here.' }, image]).parts).toEqual([{ text: 'Here.' }, image]);
  });

  const plain = { inlineData: { mimeType: 'image/png', data: 'BBBB' } };
  const words = { text: 'Here.', thoughtSignature: OTHER };

  it.each([
    ['only the words before them are signed', [words, plain]],
    ['the words are signed too', [words, image]],
    ['only the first of two is signed', [{ text: 'Here.' }, image, plain]],
    ['there are no words', [image, plain]],
    ['a part of its own follows', [words, plain, { text: '', thoughtSignature: SIGNATURE }]],
  ])('stay where they were: %s', (_name, parts) => {
    for (const format of ['responses', 'chat'] as const) {
      for (const way of ['body', 'stream'] as const) {
        expect(replayed(format, parts, { way }).parts).toEqual(parts);
      }
    }
  });
});

describe('calls without a signature', () => {
  it('go out with the placeholder on the first call of a turn if a signature is required', () => {
    const { parts } = replayed('chat', [call(1), call(2)], { model: 'gemini-3.5-flash' });
    expect(parts).toEqual([call(1, 'skip_thought_signature_validator'), call(2)]);
  });

  it('go out as they are elsewhere', () => {
    expect(replayed('chat', [call(1), call(2)]).parts).toEqual([call(1), call(2)]);
  });
});
