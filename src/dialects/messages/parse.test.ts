import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../../ir/errors.ts';
import type { Item } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { wrapSeal } from '../shared/reasoning/custody.ts';
import { encodeError } from './error.ts';
import { hasUnknownTypes, parseRequest } from './parse.ts';

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

  it.each<[JsonObject[]]>([
    [[{ role: 'user', content: [] }]],
    [[{ role: 'user', content: '' }]],
    [[{ role: 'user', content: [{ type: 'text', text: '' }] }]],
    [
      [
        { role: 'user', content: [] },
        { role: 'assistant', content: '' },
      ],
    ],
  ])('refuses messages that say nothing: %j', (messages) => {
    const issues = [{ path: 'messages[0].content', message: 'must not be empty' }];
    expect(refusal({ messages, system: 'rules' })).toMatchObject({ status: 400, metadata: { issues } });
    expect(() => parse({ messages: [...messages, { role: 'user', content: 'hi' }] })).not.toThrow();
  });

  it('knows an image again that an answer held, and only there', () => {
    const image = { type: 'text', text: '![image](data:image/png;base64,iVBORw0KGgo=)' };
    const itemsOf = (role: string) => parse({ messages: [{ role, content: [image] }] }).items;
    expect(itemsOf('assistant')).toEqual([
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } },
    ]);
    expect(itemsOf('user')).toMatchObject([{ type: 'message', content: [image] }]);
  });

  it('refuses fallbacks beside models', () => {
    expect(refusal({ fallbacks: [{ model: 'a' }], models: ['b'] }).message).toContain('fallbacks');
    expect(parse({ fallbacks: [{ model: 'a' }], models: [] }).models).toEqual(['m', 'a']);
  });

  it('refuses what is impossible together with 422', () => {
    expect(refusal({ tool_choice: { type: 'tool', name: 'x' } })).toMatchObject({
      status: 422,
      metadata: { issues: [{ path: 'tool_choice.name' }] },
    });
    expect(refusal({ tool_choice: { type: 'any' } })).toMatchObject({
      status: 422,
      metadata: { issues: [{ path: 'tool_choice' }] },
    });
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

  it('remembers where everything stood', () => {
    const { items, tools, places } = parse({
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      tools: [
        { type: 'web_search_20250305', name: 'web_search' },
        { name: 'f', input_schema: { type: 'object' } },
      ],
      messages: [
        { role: 'user', content: 'q' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 't', signature: 's' },
            { type: 'text', text: 'x' },
            { type: 'tool_use', id: 'c', name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'r' }] },
            { type: 'tool_result', tool_use_id: 'd', content: 'r' },
            { type: 'text', text: 'y' },
          ],
        },
      ],
    });
    const parts = (item: Item) =>
      item.type === 'message' || item.type === 'tool-result'
        ? item.content.map((part) => places.of(part))
        : [];
    expect(items.map((item) => [places.of(item), ...parts(item)])).toEqual([
      ['system', 'system[0]', 'system[1]'],
      ['messages[0]', 'messages[0].content'],
      ['messages[1].content[0]'],
      ['messages[1]', 'messages[1].content[1]'],
      ['messages[1].content[2]'],
      ['messages[2].content[0]', 'messages[2].content[0].content[0]'],
      ['messages[2].content[1]', 'messages[2].content[1].content'],
      ['messages[2]', 'messages[2].content[2]'],
    ]);
    expect(tools.map((tool) => places.of(tool))).toEqual(['tools[0]', 'tools[1]']);
    const whole = parse({ system: 'rules' });
    expect(whole.places.of(whole.items[0] as Item)).toBe('system');
  });

  it('finds undocumented blocks', () => {
    const request = parse({
      messages: [
        { role: 'user', content: 'text' },
        {
          role: 'user',
          content: [{ type: 'zz' }, { type: 'tool_result', tool_use_id: 'c', content: 'x' }],
        },
        {
          role: 'assistant',
          content: ['web_fetch_tool_result', 'acme_shell_tool_result', 'compaction'].map((type) => ({
            type,
          })),
        },
      ],
    });
    expect(hasUnknownTypes(request)).toBe(true);
    const [, { content }] = request.body.messages as any;
    content.shift();
    expect(hasUnknownTypes(request)).toBe(false);
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

  it('keeps fields that only this format has, and lists undocumented ones', () => {
    const request = parse({
      context_management: { edits: [] },
      output_config: { effort: 'low', task_budget: { type: 'tokens', total: 20000 } },
      thinking: { type: 'disabled' },
      metadata: { user_id: 'u', team: 'blue' },
      mystery: 1,
      tool_choice: { type: 'none', riddle: 1 },
    });
    expect(request.ext.messages).toEqual({
      context_management: { edits: [] },
      output_config: { task_budget: { type: 'tokens', total: 20000 }, effort: 'low' },
      metadata: { team: 'blue' },
    });
    expect(request).toMatchObject({
      user: 'u',
      reasoning: { enabled: false },
      unknownFields: ['mystery', 'tool_choice.riddle'],
    });
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
