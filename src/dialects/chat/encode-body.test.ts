import { describe, expect, it } from 'vitest';
import { replyTo, requestWith, settledWith } from '../../../test/kit/fixtures/chat/chat-fixture.ts';
import { fold } from '../../ir/folding/fold.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsAt } from '../../kit/json/members.ts';
import { decodeBody } from './decode.ts';
import { encodeBody } from './encode-body.ts';

const BODY: JsonObject = {
  id: 'chatcmpl-7',
  object: 'chat.completion',
  created: 5,
  model: 'large-v1',
  system_fingerprint: 'fp',
  novelty: 1,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Hi',
        reasoning_content: 'Hm',
        odd: true,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' }, extra_content: 2 },
        ],
      },
      finish_reason: 'tool_calls',
      logprobs: null,
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

function reply(body: JsonObject, relay: boolean, given: JsonObject = {}): JsonObject {
  const request = requestWith(given);
  const result = fold(decodeBody(body, { request, relay }));
  return encodeBody({ ...result, settled: settledWith(result) }, replyTo(request));
}

describe('the body', () => {
  it('keeps thoughts as the upstream wrote them', () => {
    const details = [
      { type: 'reasoning.text', text: 'Hm', signature: 'S', format: 'anthropic-claude-v1', index: 0, odd: 1 },
      { type: 'reasoning.novel', index: 1 },
    ];
    const [choice] = objectsAt(BODY, 'choices');
    const message = { role: 'assistant', content: 'Hi', reasoning: 'Hm', reasoning_details: details };
    const body = { ...BODY, choices: [{ ...choice, message }] };
    expect(reply(body, true)).toMatchObject({
      choices: [{ message: { reasoning: 'Hm', reasoning_details: details } }],
    });
    expect(JSON.stringify(reply(body, true, { reasoning: { exclude: true } }))).not.toContain('Hm');
  });

  it.each([true, false])('gives a function that was called without arguments none (relay: %s)', (relay) => {
    const [choice] = objectsAt(BODY, 'choices');
    const called = { name: 'f', arguments: '' };
    const call = { id: 'c1', type: 'function', function: called };
    const bodyWith = (message: JsonObject) => ({ ...BODY, choices: [{ ...choice, message }] });
    expect(reply(bodyWith({ role: 'assistant', tool_calls: [call] }), relay)).toMatchObject({
      choices: [{ message: { tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{}' } }] } }],
    });
    const legacy = reply(bodyWith({ role: 'assistant', function_call: called }), true, {
      functions: [{ name: 'f' }],
    });
    expect(legacy).toMatchObject({
      choices: [{ message: { function_call: { name: 'f', arguments: '{}' } } }],
    });
  });

  it.each([true, false])('is complete, relayed or not (%s)', (relay) => {
    expect(reply(BODY, relay)).toMatchObject({
      id: 'gen-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'a/b',
      provider: 'Acme',
      system_fingerprint: 'fp',
      service_tier: 'default',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hi',
            refusal: null,
            reasoning: 'Hm',
            reasoning_details: [{ type: 'reasoning.text', text: 'Hm', index: 0 }],
            tool_calls: [
              {
                index: 0,
                id: 'c1',
                type: 'function',
                function: { name: 'f', arguments: '{}' },
                extra_content: 2,
              },
            ],
          },
          finish_reason: 'tool_calls',
          native_finish_reason: 'tool_calls',
          logprobs: null,
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cost: 0.0000015 },
    });
  });

  it('keeps what only the upstream says when it is relayed', () => {
    expect(reply(BODY, true)).toMatchObject({ novelty: 1, choices: [{ message: { odd: true } }] });
    expect(reply(BODY, false)).not.toHaveProperty('novelty');
  });

  it('keeps a member that has the name of the prototype', () => {
    const body = JSON.parse(JSON.stringify(BODY).replace('{', '{"__proto__":{"odd":1},')) as JsonObject;
    expect(JSON.stringify(reply(body, true))).toContain('"__proto__":{"odd":1}');
  });

  it('has no thoughts when they are not wanted', () => {
    for (const relay of [true, false]) {
      const text = JSON.stringify(reply(BODY, relay, { reasoning: { exclude: true } }));
      expect(text).not.toContain('Hm');
    }
  });

  it('shows images and a refusal', () => {
    const message = {
      content: null,
      refusal: 'No.',
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
    };
    const body = { ...BODY, choices: [{ message, finish_reason: 'stop' }] };
    expect(reply(body, false)).toMatchObject({ choices: [{ message, finish_reason: 'stop' }] });
  });

  it.each([
    [{}, 'upstream-unavailable', /could not be read/],
    [{ choices: [] }, 'upstream-unavailable', /could not be read/],
    [{ choices: [{ delta: {} }] }, 'upstream-unavailable', /could not be read/],
    [{ error: { message: 'Too many requests' } }, 'rate-limited', /Too many/],
    [{ object: 'error', message: 'Boom', code: 500 }, 'upstream-unavailable', /Boom/],
  ])('is a failure when it holds no answer: %j', (body, kind, message) => {
    for (const relay of [true, false]) {
      const { failure } = fold(decodeBody(body as JsonObject, { request: requestWith(), relay }));
      expect(failure).toMatchObject({ kind, message: expect.stringMatching(message) });
    }
  });
});
