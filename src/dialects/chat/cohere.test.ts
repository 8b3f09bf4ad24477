import { describe, expect, it } from 'vitest';
import { chunk, decodeFrames, framesOf, requestWith } from '../../../test/kit/fixtures/chat/chat-fixture.ts';
import { fold } from '../../ir/folding/fold.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { asChatBody, asChatChunk } from './cohere.ts';
import { decodeBody } from './decode.ts';

const COHERE = { answerForm: 'cohere' } as const;

/** An event that adds something to the message. */
function event(type: string, message: JsonObject, more: JsonObject = {}): JsonObject {
  return { type, delta: { message }, ...more };
}

describe('asChatChunk', () => {
  it.each([
    ['a chunk of this dialect', chunk({ content: 'x' })],
    ['an error of this dialect', { error: { message: 'x', type: 'server_error' } }],
    ['an event of an unknown type', { type: 'never-heard-of', delta: { message: { content: 'x' } } }],
  ])('leaves %s as it is', (_, value) => {
    expect(asChatChunk(value)).toBe(value);
  });

  it('gives a call the index of its event', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '' } };
    expect(asChatChunk(event('tool-call-start', { tool_calls: call }, { index: 2 }))).toEqual({
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { tool_calls: [{ index: 2, ...call }] } }],
    });
  });

  it.each([
    ['COMPLETE', 'stop', 'COMPLETE'],
    ['STOP_SEQUENCE', 'stop', 'STOP_SEQUENCE'],
    ['MAX_TOKENS', 'length', 'MAX_TOKENS'],
    ['ERROR_TOXIC', 'content_filter', 'ERROR_TOXIC'],
    ['NEW_WORD', 'NEW_WORD', 'NEW_WORD'],
    [undefined, 'stop', undefined],
  ])('ends on %s with %s', (word, reason, native) => {
    const end = asChatChunk({ type: 'message-end', delta: { finish_reason: word } });
    expect(end.choices).toMatchObject([{ finish_reason: reason }]);
    expect(end.choices).toEqual([
      expect.objectContaining(native === undefined ? {} : { native_finish_reason: native }),
    ]);
  });

  it('counts billed units only if no tokens are reported', () => {
    const usage = (told: JsonObject) => asChatChunk({ type: 'message-end', delta: { usage: told } }).usage;
    const billed_units = { input_tokens: 3, output_tokens: 2 };
    expect(usage({ billed_units })).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
    expect(usage({ billed_units, tokens: { input_tokens: 90, output_tokens: 7 } })).toMatchObject({
      prompt_tokens: 90,
      completion_tokens: 7,
    });
    expect(usage({})).toBeUndefined();
  });

  it('is what a relayed stream is made of', () => {
    const frames = framesOf([
      event('content-delta', { content: { text: 'Moin' } }, { index: 0 }),
      { type: 'message-end', delta: { finish_reason: 'COMPLETE' } },
    ]);
    for (const relayed of decodeFrames(frames, requestWith(), true, COHERE)) {
      if (relayed.type !== 'relay') continue;
      expect(relayed.value).toMatchObject({ object: 'chat.completion.chunk' });
      expect(JSON.parse(relayed.frame.data)).toEqual(relayed.value);
    }
  });
});

describe('asChatBody', () => {
  it('leaves a body of this dialect as it is', () => {
    const body = { id: 'x', choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }] };
    expect(asChatBody(body)).toBe(body);
  });

  it('reads the plan, the calls and the sources of a whole body', () => {
    const body = {
      id: 'b1',
      finish_reason: 'TOOL_CALL',
      message: {
        role: 'assistant',
        tool_plan: 'The tide.',
        content: [{ type: 'text', text: 'See.' }],
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'tide', arguments: '{"at":7}' } }],
        citations: [
          {
            start: 0,
            end: 3,
            sources: [{ type: 'document', document: { url: 'https://t.example/' } }, { type: 'tool' }],
          },
        ],
      },
      usage: { tokens: { input_tokens: 9, output_tokens: 4 }, cached_tokens: 8 },
    };
    const { items, finish, usage } = fold(
      decodeBody(body, { request: requestWith(), relay: false, quirks: COHERE }),
    );
    expect(items).toMatchObject([
      { type: 'reasoning', text: ['The tide.'] },
      {
        type: 'message',
        content: [{ text: 'See.', annotations: [{ url: 'https://t.example/', startIndex: 0, endIndex: 3 }] }],
      },
      { type: 'tool-call', callId: 'c1', name: 'tide', input: '{"at":7}' },
    ]);
    expect(finish).toMatchObject({ reason: 'tool-calls', nativeReason: 'TOOL_CALL' });
    expect(usage).toMatchObject({ inputTokens: 9, cachedTokens: 8, outputTokens: 4 });
  });
});
