import { describe, expect, it } from 'vitest';
import type { RelayedUpstream, ReplyContext } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import { type Event, terminalOf } from '../../src/ir/events.ts';
import { fold } from '../../src/ir/folding/fold.ts';
import type { Format } from '../../src/ir/items.ts';
import type { GenerationRequest } from '../../src/ir/request.ts';
import { SseReader } from '../../src/kit/frames/sse.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { objectsAt } from '../../src/kit/json/members.ts';
import { messagesFrames, responsesFrames, sse } from '../kit/fakes/answers.ts';
import { chunk, settleAll, settledWith } from '../kit/fixtures/chat/chat-fixture.ts';

/** A round trip of seals: an answer goes through the gateway to a caller, which sends it back unchanged. */

const TARGET = { model: 'm', hashUser: (id: string) => id };

function upstreamOf(name: Format): RelayedUpstream {
  const dialect = DIALECTS[name].upstream;
  if (dialect === undefined) throw new Error(`no upstream speaks ${name}`);
  return dialect;
}

const FIRST: Readonly<Record<Format, JsonObject>> = {
  responses: { model: 'm', input: [{ type: 'message', role: 'user', content: 'Hi' }], stream: true },
  messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stream: true },
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true },
};

function parsed(format: Format, body: JsonObject): GenerationRequest {
  return DIALECTS[format].inbound.parseRequest(body, { vendor: 'acme' });
}

function contextOf(request: GenerationRequest): ReplyContext {
  const names = { vendor: 'acme', generationId: 'gen-1', model: 'm', provider: 'P', serviceTier: 'default' };
  return { ...names, request, createdAtMs: 0, now: () => 0 };
}

function read(bytes: string): ReturnType<SseReader['end']> {
  const reader = new SseReader();
  return [...reader.push(Buffer.from(bytes)), ...reader.end()];
}

/** The caller's next request: everything that the reply said is sent back, as the clients of each format do it. */
function replayed(format: Format, reply: JsonObject): JsonObject {
  if (format === 'responses') {
    return {
      ...FIRST.responses,
      input: [...objectsAt(FIRST.responses, 'input'), ...objectsAt(reply, 'output')],
    };
  }
  const message =
    format === 'chat'
      ? (objectsAt(reply, 'choices')[0]?.message as JsonObject)
      : { role: 'assistant', content: reply.content };
  return {
    ...FIRST[format],
    messages: [...objectsAt(FIRST[format], 'messages'), message, { role: 'user', content: 'And?' }],
  };
}

/** What a chat client makes of a stream: lists of deltas become one list. */
function chatReply(text: string): JsonObject {
  const message: JsonObject = { role: 'assistant', content: '' };
  const details: JsonObject[] = [];
  const calls: JsonObject[] = [];
  for (const { data } of read(text)) {
    if (data === '[DONE]') continue;
    const delta = objectsAt(JSON.parse(data) as JsonObject, 'choices')[0]?.delta as JsonObject;
    if (typeof delta.content === 'string') message.content += delta.content;
    details.push(...objectsAt(delta, 'reasoning_details'));
    calls.push(...objectsAt(delta, 'tool_calls').filter(({ id }) => id !== undefined));
  }
  if (details.length > 0) message.reasoning_details = details;
  if (calls.length > 0) message.tool_calls = calls;
  return { choices: [{ message }] };
}

/** Sends an answer of one upstream to a caller of `format`, and renders the caller's next request for another. */
function circle(format: Format, from: Format, frames: string, to: Format, isStream: boolean) {
  const request = parsed(format, FIRST[format]);
  const decoder = upstreamOf(from).createDecoder({ request, relay: format === from && isStream });
  const events: Event[] = [...read(frames).flatMap((frame) => decoder.decode(frame)), ...decoder.end()];
  expect(events.map(terminalOf).filter((end) => end !== undefined)).toMatchObject([{ type: 'finish' }]);
  const dialect = DIALECTS[format].inbound;
  const result = fold(events);
  let reply = dialect.encodeBody({ ...result, settled: settledWith(result) }, contextOf(request));
  if (isStream && format === 'chat') {
    const encoder = dialect.createEncoder(contextOf(request));
    reply = chatReply(encoder.encode(settleAll(events)));
  }
  const next = parsed(format, replayed(format, JSON.parse(JSON.stringify(reply)) as JsonObject));
  const upstream = upstreamOf(to);
  const rendered = format === to ? upstream.renderRelay(next, TARGET) : upstream.renderRequest(next, TARGET);
  return { text: JSON.stringify(rendered.body), report: rendered.report };
}

const call = { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };

function chatFrames(...deltas: JsonObject[]): string {
  const chunks = [...deltas, { content: 'Yes' }].map((delta) => chunk(delta));
  const last = chunk({}, {}, { finish_reason: 'stop' });
  return [...chunks, last, '[DONE]']
    .map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
    .join('');
}

const ROUTES = (['responses', 'messages', 'chat'] as const).flatMap((format) =>
  [true, false].map((isStream) => ({ format, isStream })),
);

const DETAILS: Readonly<Record<string, JsonObject>> = {
  signed: {
    type: 'reasoning.text',
    text: 'Hm',
    signature: 'SIG+/=',
    format: 'anthropic-claude-v1',
    index: 0,
  },
  unsigned: { type: 'reasoning.text', text: 'Hm', format: 'anthropic-claude-v1', index: 0 },
  encrypted: { type: 'reasoning.encrypted', data: 'DATA+/=', format: 'google-gemini-v1', index: 0 },
  openai: {
    type: 'reasoning.encrypted',
    data: 'DATA+/=',
    id: 'rs_1',
    format: 'openai-responses-v1',
    index: 0,
  },
  unknown: { type: 'reasoning.text', text: 'Hm', signature: 'SIG', format: 'unknown', index: 0 },
};

describe.each(ROUTES)('through /$format (stream: $isStream)', ({ format, isStream }) => {
  it.each(Object.entries(DETAILS))('%s details go back to chat upstreams', (_, detail) => {
    const frames = chatFrames({ reasoning: detail.text, reasoning_details: [detail] });
    const { text, report } = circle(format, 'chat', frames, 'chat', isStream);
    const [sent] = objectsAt(JSON.parse(text) as JsonObject, 'messages').flatMap((message) =>
      objectsAt(message, 'reasoning_details'),
    );
    expect(sent).toEqual(detail);
    expect(report).toEqual([]);
  });

  it('what a messages upstream sealed goes back to its own kind only', () => {
    const frames = sse(messagesFrames({ text: 'Yes', reasoning: 'Hm' }));
    const home = circle(format, 'messages', frames, 'messages', isStream);
    expect(home.text).toContain('"thinking":"Hm","signature":"sealed-by-fake"');
    const away = circle(format, 'messages', frames, 'chat', isStream);
    expect(away.text).not.toMatch(/sealed|reasoning_details/);
    expect(away.report).not.toEqual([]);
  });

  it('what a responses upstream sealed goes back to its own kind only', () => {
    const frames = sse(responsesFrames({ text: 'Yes', reasoning: 'Hm' }));
    expect(circle(format, 'responses', frames, 'responses', isStream).text).toContain(
      '"encrypted_content":"sealed-by-fake"',
    );
    expect(circle(format, 'responses', frames, 'chat', isStream).text).not.toMatch(
      /sealed|reasoning_details/,
    );
  });

  it('what a chat upstream passed on of the messages family reaches messages upstreams too', () => {
    const frames = chatFrames({ reasoning_details: [DETAILS.signed ?? {}] });
    expect(circle(format, 'chat', frames, 'messages', isStream).text).toContain('"signature":"SIG+/="');
  });
});

it.each([
  ['chat', true],
  ['chat', false],
  ['responses', false],
] as const)('seals of calls go back through /%s (stream: %s)', (format, isStream) => {
  const seal = { type: 'reasoning.encrypted', data: 'DATA+/=', id: 'c1', format: 'google-gemini-v1' };
  const frames = chatFrames({ tool_calls: [call], reasoning_details: [seal] });
  const { text, report } = circle(format, 'chat', frames, 'chat', isStream);
  expect(text).toContain(JSON.stringify(seal));
  expect(report.filter(({ action }) => action === 'dropped')).toEqual([]);
});
