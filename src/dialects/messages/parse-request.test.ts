import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../../ir/errors.ts';
import type { JsonObject } from '../../kit/json.ts';
import { wrapSeal } from '../custody.ts';
import { encodeError } from './error.ts';
import { parseRequest } from './parse-request.ts';

const BASE: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const VENDOR = { vendor: 'acme' };

function parse(change: JsonObject) {
  return parseRequest({ ...BASE, ...change }, VENDOR);
}

function refusal(change: JsonObject): GatewayError {
  try {
    parse(change);
  } catch (error) {
    return error as GatewayError;
  }
  throw new Error('was not refused');
}

describe('reading a messages request', () => {
  it('refuses a thread so that clients resend the whole conversation', () => {
    const error = refusal({ thread: { type: 'continue', previous_message_id: 'msg_1' } });
    const body = encodeError(error, { vendor: 'acme', generationId: null });
    expect(error.status).toBe(400);
    expect(body.error).toMatchObject({
      type: 'invalid_request_error',
      code: 400,
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    });
    expect(parse({ thread: null }).unknownFields).toEqual([]);
  });

  it('refuses a request without a model, and fallbacks beside models', () => {
    expect(refusal({ model: null }).message).toBe("Missing required parameter: 'model'.");
    expect(refusal({ fallbacks: [{ model: 'a' }], models: ['b'] }).message).toContain('fallbacks');
  });

  it('refuses what is impossible together with 422', () => {
    expect(refusal({ tool_choice: { type: 'tool', name: 'x' } }).status).toBe(422);
    expect(refusal({ tool_choice: { type: 'any' } }).status).toBe(422);
    expect(refusal({ max_tokens: 1000, thinking: { type: 'enabled', budget_tokens: 1000 } }).status).toBe(
      422,
    );
  });

  it('makes fallbacks the model list', () => {
    const { models, hasFallbackModels } = parse({
      fallbacks: [{ model: 'a' }, { model: 'm' }, { model: 'b' }],
    });
    expect(models).toEqual(['m', 'a', 'b']);
    expect(hasFallbackModels).toBe(true);
    expect(parse({}).hasFallbackModels).toBe(false);
  });

  it('keeps blocks in order and parts of a message together', () => {
    const { items } = parse({
      system: 'rules',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'out', is_error: true },
            { type: 'text', text: 'a' },
            { type: 'image', source: { type: 'url', url: 'https://x.example/i.png' } },
          ],
        },
        { role: 'system', content: 'be brief' },
        { role: 'assistant', content: [{ type: 'novel', x: 1 }] },
      ],
    });
    expect(items).toEqual([
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'rules' }] },
      {
        type: 'tool-result',
        kind: 'function',
        callId: 'c1',
        content: [{ type: 'text', text: 'out' }],
        isError: true,
      },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', source: { kind: 'url', url: 'https://x.example/i.png' } },
        ],
      },
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'be brief' }] },
      { type: 'opaque', dialect: 'messages', value: { type: 'novel', x: 1 }, role: 'assistant' },
    ]);
  });

  it('opens the seals of other families', () => {
    const seal = { id: 'rs_1', encrypted: 'xyz', format: 'openai-responses-v1' };
    const thinking = (signature: string) =>
      parse({ messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: 't', signature }] }] })
        .items[0];
    expect(thinking(wrapSeal(seal))).toEqual({ type: 'reasoning', text: [], summary: ['t'], ...seal });
    expect(thinking('native')).toMatchObject({
      text: ['t'],
      signature: 'native',
      format: 'anthropic-claude-v1',
    });
    expect(thinking(wrapSeal({}))).toEqual({ type: 'reasoning', text: ['t'], summary: [] });
  });

  it('keeps what only this format has, and lists what nobody documents', () => {
    const request = parse({
      context_management: { edits: [] },
      output_config: { effort: 'low', task_budget: { type: 'tokens', total: 20000 } },
      thinking: { type: 'disabled' },
      metadata: { user_id: 'u', team: 'blue' },
      mystery: 1,
    });
    expect(request.ext.messages).toEqual({
      context_management: { edits: [] },
      output_config: { task_budget: { type: 'tokens', total: 20000 }, effort: 'low' },
      metadata: { team: 'blue' },
    });
    expect(request).toMatchObject({ user: 'u', reasoning: { enabled: false }, unknownFields: ['mystery'] });
  });

  it('leaves harmless keys harmless', () => {
    const body = JSON.parse(
      '{"messages":[{"role":"user","content":[{"type":"text","text":"x","__proto__":{"a":1}}]}]}',
    );
    const [item] = parse(body).items;
    expect(({} as { a?: number }).a).toBeUndefined();
    expect(Object.getPrototypeOf(item)).toBe(Object.prototype);
  });
});
