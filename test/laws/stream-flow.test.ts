import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FREE } from '../../src/catalog/prices/bill.ts';
import { chat } from '../../src/dialects/chat/index.ts';
import type { ConversationInbound, RelayedUpstream, ReplyContext } from '../../src/dialects/dialect.ts';
import { messages } from '../../src/dialects/messages/index.ts';
import { type SettleDependencies, SettledAnswer, type Settlement } from '../../src/gateway/record/settle.ts';
import type { Event, EventBatch } from '../../src/ir/events.ts';
import type { GenerationRequest } from '../../src/ir/request.ts';
import { NO_USAGE } from '../../src/ir/usage.ts';
import type { Flow } from '../../src/kit/frames/flow.ts';
import type { Frame } from '../../src/kit/frames/frames.ts';
import { SseReader, writeSseFrame } from '../../src/kit/frames/sse.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { MemoryBudget } from '../../src/kit/loop/memory-budget.ts';
import { TurnQueue } from '../../src/kit/loop/turn-queue.ts';
import { Meter } from '../../src/tokens/meter.ts';
import { AnswerMemory } from '../../src/upstream/call/answer-memory.ts';
import { type AnswerSource, Batches, streamReader } from '../../src/upstream/call/batches.ts';

/** A stream means the same for similar frames, for any cut of its bytes, and for each way to read its flow. */

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom(
    '',
    ' word',
    '"',
    '\\',
    '\\"',
    '\n',
    '\u0000',
    '\u2028',
    '"content":"x"',
    '\u0000any text\u0000',
    '"text":"x"',
    '</',
    '\u007f',
  ),
);

/** One of several ways to write a string in JSON, by its escapes. */
const literal = fc.tuple(text, fc.constantFrom('plain', 'ascii', 'slashes')).map(([value, taste]) => {
  const plain = JSON.stringify(value);
  if (taste === 'plain') return plain;
  if (taste === 'slashes') return plain.replaceAll('/', '\\/');
  return plain.replace(/[^\x20-\x7e]/gu, (c) =>
    [...Array(c.length).keys()].map((i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );
});

const chatChunk = fc
  .tuple(
    literal,
    fc.constantFrom(
      '"content":T',
      '"content": T',
      '"role":"assistant","content":T',
      '"content":T,"content":"x"',
      '"reasoning":T',
      '"content":T,"refusal":null',
      '"content":"a","x":{"content":T}',
      '"content":T,"reasoning":"r"',
      '"content":T,"tool_calls":[]',
      '"content":T,"tool_calls":[{"index":0,"function":{"arguments":"{"}}]',
      '"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":T}}]',
      '"content":null',
    ),
    fc.constantFrom(
      '',
      ',"system_fingerprint":"a"',
      ',"system_fingerprint":"b"',
      ',"obfuscation":"z"',
      ',"content":"other"',
      ',"usage":{"prompt_tokens":1,"completion_tokens":2}',
    ),
    fc.constantFrom('null', 'null', 'null', 'null', 'null', '"stop"'),
  )
  .map(
    ([value, delta, more, finish]): Frame => ({
      data: `{"id":"u","created":1,"model":"m"${more},"choices":[{"index":0,"delta":{${delta.replace('T', () => value)}},"finish_reason":${finish}}]}`,
    }),
  );

const messagesEvent = fc
  .tuple(
    literal,
    fc.constantFrom(
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":T}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text": T}}',
      '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":T}}',
      '{"index":0,"delta":{"text":T,"type":"text_delta"},"x":1}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":T}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t","text":T}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":T}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"ping"}',
    ),
  )
  .map(([value, event]): Frame => ({ event: 'content_block_delta', data: event.replace('T', () => value) }));

/** Every frame a few times, as in real streams, each time with its own text. */
function repeated(frame: fc.Arbitrary<Frame>): fc.Arbitrary<Frame[]> {
  const run = fc.tuple(frame, fc.array(literal, { maxLength: 3 })).map(([first, others]) => [
    first,
    ...others.map((other) => ({
      ...first,
      data: first.data.replace(/("(?:content|text)": ?)"(?:[^"\\]|\\.)*"/u, (_, name) => name + other),
    })),
  ]);
  return fc.array(run, { minLength: 1, maxLength: 5 }).map((runs) => runs.flat());
}

/** The same frames, no two of which begin alike. */
function unlike(frames: readonly Frame[]): Frame[] {
  return frames.map((frame, index) =>
    index % 2 === 0 ? frame : { ...frame, data: frame.data.replace('{', '{ ') },
  );
}

interface Written {
  readonly events: unknown[];
  readonly frames: unknown[];
}

type Both = ConversationInbound & RelayedUpstream;

function replyContext(request: GenerationRequest): ReplyContext {
  return {
    vendor: 'acme',
    request,
    generationId: 'gen-1',
    createdAtMs: 0,
    now: () => 0,
    model: 'a/b',
    provider: 'Acme',
    serviceTier: 'default',
  };
}

function passed(dialect: Both, frames: readonly Frame[], relay: boolean): Written {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
  const request = dialect.parseRequest(body, { vendor: 'acme' });
  const decoder = dialect.createDecoder({ request, relay, idSeed: 'g' });
  const encoder = dialect.createEncoder(replyContext(request));
  const events: Event[] = [];
  let written = '';
  for (const frame of frames) {
    const decoded = decoder.decode(frame);
    events.push(...decoded);
    written += encoder.encode(decoded);
  }
  written += encoder.encode([{ type: 'finish', reason: 'stop' }]);
  const read = new SseReader();
  return {
    events: events.map((event) =>
      event.type === 'relay' ? { value: event.value, events: event.events } : event,
    ),
    frames: [...read.push(Buffer.from(written)), ...read.end()].map((frame) => ({
      event: frame.event,
      value: frame.data === '[DONE]' ? frame.data : (JSON.parse(frame.data) as JsonObject),
    })),
  };
}

/** As most frames of a stream are; T is their text. */
const PLAIN_CHUNK: Frame = { data: '{"id":"u","choices":[{"index":0,"delta":{"content":"T"}}]}' };
const PLAIN_EVENT: Frame = {
  event: 'content_block_delta',
  data: '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"T"}}',
};

const CASES: readonly (readonly [string, Both, fc.Arbitrary<Frame>, Frame])[] = [
  ['chat', { ...chat.inbound, ...chat.upstream }, chatChunk, PLAIN_CHUNK],
  ['messages', { ...messages.inbound, ...messages.upstream }, messagesEvent, PLAIN_EVENT],
];

describe.each(CASES)('frames of %s that differ in their text alone', (_name, dialect, frame) => {
  it.each([true, false])('mean what they would mean alone (relay: %s)', (relay) => {
    fc.assert(
      fc.property(repeated(frame), (frames) => {
        expect(passed(dialect, frames, relay)).toEqual(passed(dialect, unlike(frames), relay));
      }),
      { numRuns: 200 },
    );
  });
});

/** Where bytes come from: a chunk is ready once the reader waits for it. */
function chunksOf(chunks: Uint8Array[]): Flow<Uint8Array> {
  let isAtHand = false;
  return {
    poll: () => {
      const chunk = isAtHand ? chunks.shift() : undefined;
      isAtHand = false;
      return chunk;
    },
    whenReady: () => {
      isAtHand = chunks.length > 0;
      return isAtHand;
    },
    next: async () => {
      const value = chunks.shift();
      return value === undefined ? { done: true, value: undefined } : { done: false, value };
    },
    return: async () => ({ done: true, value: undefined }),
  };
}

/** Each frame is a chunk, as in real streams; some come together, one in two, cut so far from its end. */
function wireOf(frames: readonly Frame[], cut: number, fromEnd: number): Uint8Array[] {
  const texts = frames.map(({ event, data }) => writeSseFrame(data, event));
  if (cut > 1) texts.splice(cut, 2, texts.slice(cut, cut + 2).join(''));
  const whole = texts.map((each) => Buffer.from(each));
  const halved = whole[cut + 1];
  if (halved !== undefined) whole.splice(cut + 1, 1, halved.subarray(0, -fromEnd), halved.subarray(-fromEnd));
  return whole;
}

/** What a caller gets of a stream, and what is known of it in the end. */
async function streamed(dialect: Both, chunks: Uint8Array[], polls: boolean) {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
  const request = dialect.parseRequest(body, { vendor: 'acme' });
  const encoder = dialect.createEncoder(replyContext(request));
  const decoder = dialect.createDecoder({ request, relay: true, idSeed: 'g' });
  const { signal } = new AbortController();
  const source = {
    status: 200,
    chunks: chunksOf(chunks),
    signal,
    memory: new AnswerMemory(new MemoryBudget(() => 1_000_000), { signal }),
    scope: { confidential: { secrets: [] } },
    turns: new TurnQueue(8),
  } as unknown as AnswerSource;
  const batches = new Batches(source, streamReader(dialect.createFrameReader(100_000), decoder));
  const meter = new Meter();
  const dependencies = {
    metadata: () => undefined,
    account: () => ({ usage: NO_USAGE, bill: FREE }),
    watch: (batch: EventBatch) => meter.push(batch),
    mayGoOn: () => true,
    reading: { isAbandoned: false, isDraining: false },
    record: async (settlement: Settlement) => {
      items = settlement.result.items;
      return settlement.bill;
    },
  } as unknown as SettleDependencies;
  let items: unknown;
  const answer = new SettledAnswer(batches, dependencies);
  let written = '';
  let polled = 0;
  const put = (batch: EventBatch) => {
    written += encoder.encode(batch);
  };
  for (let step = await answer.next(); step.done !== true; step = await answer.next()) {
    put(step.value);
    if (!polls) continue;
    do {
      for (let batch = answer.poll(); batch !== undefined; batch = answer.poll()) {
        put(batch);
        polled++;
      }
    } while (answer.whenReady(() => {}));
  }
  return { told: { written, items, pieces: meter.pieces, tokens: meter.outputTokens }, polled };
}

const TEXTS = ['one', 'two', 'three', 'four', 'five', 's\u{1f600}x', 'seven'];

describe.each(CASES)('a stream of %s that is polled', (_name, dialect, frame, plain) => {
  it('is written, folded and counted as with `next` alone', async () => {
    let polled = 0;
    const place = fc.integer({ min: 1, max: 60 });
    await fc.assert(
      fc.asyncProperty(repeated(frame), fc.nat(8), place, async (frames, cut, fromEnd) => {
        const straight = await streamed(dialect, wireOf(frames, cut, fromEnd), true);
        const around = await streamed(dialect, wireOf(frames, cut, fromEnd), false);
        expect(straight.told).toEqual(around.told);
        polled += straight.polled;
      }),
      { numRuns: 300 },
    );
    expect(polled).toBeGreaterThan(0);
  });

  it('may be cut anywhere, also inside a character', async () => {
    const told = TEXTS.map((each) => ({ ...plain, data: plain.data.replace('T', each) }));
    const length = Buffer.byteLength(writeSseFrame(told[5]?.data ?? '', plain.event));
    for (let fromEnd = 1; fromEnd < length; fromEnd++) {
      const straight = await streamed(dialect, wireOf(told, 3, fromEnd), true);
      const around = await streamed(dialect, wireOf(told, 3, fromEnd), false);
      expect(straight.told).toEqual(around.told);
      expect(straight.told.written).toContain(TEXTS[5]);
      expect(straight.polled).toBeGreaterThan(0);
    }
  });
});
