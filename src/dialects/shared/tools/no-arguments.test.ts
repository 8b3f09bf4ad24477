import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../../test/kit/builders/request.ts';
import {
  chatBody,
  chatFrames,
  messagesBody,
  messagesFrames,
  responsesBody,
  responsesFrames,
  sse,
} from '../../../../test/kit/fakes/answers.ts';
import { settleAll, settledWith } from '../../../../test/kit/fixtures/chat/chat-fixture.ts';
import type { Event } from '../../../ir/events.ts';
import { fold } from '../../../ir/folding/fold.ts';
import { SseReader } from '../../../kit/frames/sse.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { DIALECTS } from '../../dialects.ts';

/** Arguments are JSON text: a function that is called without any has an empty object of them. */

const called = (text: string) => ({ tools: [{ name: 'now', arguments: text, id: 'call_1' }] });
const CONTENT = called('');

const UPSTREAMS = {
  chat: { frames: chatFrames(CONTENT), body: chatBody(CONTENT) },
  responses: { frames: responsesFrames(CONTENT), body: responsesBody(CONTENT) },
  messages: {
    frames: messagesFrames(called('{}')).filter(({ event }) => event !== 'content_block_delta'),
    body: messagesBody(called('{}')),
  },
} as const;

type Name = keyof typeof UPSTREAMS;

const PAIRS = (Object.keys(UPSTREAMS) as Name[]).flatMap((upstream) =>
  (['chat', 'responses'] as const).map((format) => ({ upstream, format })),
);

describe.each(PAIRS)('a call without arguments, $upstream to $format', ({ upstream, format }) => {
  const request = requestOf({ format, body: { model: 'm' } });
  const relay = upstream === format;
  const context = {
    ...{ vendor: 'acme', generationId: 'gen-1', model: 'm', provider: 'P', serviceTier: 'default' },
    ...{ request, createdAtMs: 0, now: () => 0 },
  };

  function streamed(): JsonObject[] {
    const decoder = DIALECTS[upstream].upstream.createDecoder({ request, relay });
    const frames = new SseReader().push(Buffer.from(sse(UPSTREAMS[upstream].frames)));
    const events: Event[] = frames.flatMap((frame) => decoder?.decode(frame) ?? []);
    const text = DIALECTS[format].inbound.createEncoder(context).encode(settleAll(events));
    return new SseReader()
      .push(Buffer.from(text))
      .flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as JsonObject]));
  }

  it('has {} in the body', () => {
    const body = UPSTREAMS[upstream].body as JsonObject;
    const result = fold(DIALECTS[upstream].upstream.decodeBody(body, { request, relay }) ?? []);
    const reply = DIALECTS[format].inbound.encodeBody({ ...result, settled: settledWith(result) }, context);
    expect(JSON.stringify(reply)).toContain('"arguments":"{}"');
  });

  it('has {} in the stream, once', () => {
    const events = streamed();
    if (format === 'chat') {
      const pieces = JSON.stringify(events).match(/"arguments":"[^"]*"/g) ?? [];
      expect(pieces.join('').replaceAll(/"arguments":|"/g, '')).toBe('{}');
      return;
    }
    const ofType = (type: string) => events.filter((event) => event.type === type);
    expect(ofType('response.function_call_arguments.delta')).toMatchObject([{ delta: '{}' }]);
    expect(ofType('response.function_call_arguments.done')).toMatchObject([{ arguments: '{}' }]);
    expect(ofType('response.output_item.done')).toMatchObject([{ item: { arguments: '{}' } }]);
    expect(ofType('response.completed')).toMatchObject([{ response: { output: [{ arguments: '{}' }] } }]);
  });
});
