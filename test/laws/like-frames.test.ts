import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatInbound, chatUpstream } from '../../src/dialects/chat/chat.ts';
import type { InboundDialect, ReplyContext, UpstreamDialect } from '../../src/dialects/dialect.ts';
import { messagesInbound, messagesUpstream } from '../../src/dialects/messages/messages.ts';
import type { Event } from '../../src/ir/events.ts';
import type { Frame } from '../../src/kit/frames.ts';
import type { JsonObject } from '../../src/kit/json.ts';
import { SseReader } from '../../src/kit/sse.ts';

/** Frames that follow each other and differ in their text alone are not parsed: nobody may be able to tell. */

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

/** A way to write a string in JSON: escapes are a matter of taste. */
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

/** Every frame a few times, as in life; each time with a text of its own. */
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

type Both = InboundDialect & UpstreamDialect;

function passed(dialect: Both, frames: readonly Frame[], relay: boolean): Written {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
  const request = dialect.parseRequest(body, { vendor: 'acme' });
  const context: ReplyContext = {
    vendor: 'acme',
    request,
    generationId: 'gen-1',
    createdAtMs: 0,
    now: () => 0,
    model: 'a/b',
    provider: 'Acme',
    serviceTier: 'default',
  };
  const decoder = dialect.createDecoder({ request, relay, ground: 'g' });
  const encoder = dialect.createEncoder(context);
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

const CASES: readonly (readonly [string, Both, fc.Arbitrary<Frame>])[] = [
  ['chat', { ...chatInbound, ...chatUpstream }, chatChunk],
  ['messages', { ...messagesInbound, ...messagesUpstream }, messagesEvent],
];

describe.each(CASES)('frames of %s that are like the last one', (_name, dialect, frame) => {
  it.each([true, false])('mean what they would mean alone (relay: %s)', (relay) => {
    fc.assert(
      fc.property(repeated(frame), (frames) => {
        expect(passed(dialect, frames, relay)).toEqual(passed(dialect, unlike(frames), relay));
      }),
      { numRuns: 200 },
    );
  });
});
