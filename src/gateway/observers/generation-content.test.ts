import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../test/kit/builders/request.ts';
import { callerOf, workspaceOf } from '../../../test/kit/builders/tenancy.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Format } from '../../ir/items.ts';
import type { Result } from '../../ir/result.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Workspace } from '../../ports/tenancy/tenancy.ts';
import { type ContentPlaces, contentOf, placesOf } from './generation-content.ts';

const on = { isObservabilityIoLoggingEnabled: true };
const nothing: Result = { items: [] };

function places(
  workspace: Partial<Workspace>,
  drawn = 0,
  provider: JsonObject = {},
): ContentPlaces | undefined {
  const caller = callerOf({}, { workspace: workspaceOf(workspace) });
  return placesOf(
    caller,
    requestOf({ wishes: { provider, plugins: [] } }),
    () => [],
    () => drawn,
  );
}

const isKept = (...given: Parameters<typeof places>): boolean => places(...given)?.isKept === true;

describe('placesOf content', () => {
  it('are the spool of those who read it after the answer, whatever is stored', () => {
    const read = { hasContentReaders: true };
    expect(places(read)).toEqual({ isKept: false, isSpooled: true });
    expect(places({ ...on, ...read, ioLoggingSamplingRate: 0.25 }, 0.3)).toEqual({
      isKept: false,
      isSpooled: true,
    });
    expect(places({ ...on, ...read, ioLoggingApiKeyIds: [1] })).toEqual({ isKept: false, isSpooled: true });
    expect(places({ ...on, ...read })).toEqual({ isKept: true, isSpooled: true });
    expect(places(on)).toEqual({ isKept: true, isSpooled: false });
    expect(places(read, 0, { zdr: true })).toBeUndefined();
  });

  it('is off until the workspace turns it on', () => {
    expect(isKept({})).toBe(false);
    expect(isKept(on)).toBe(true);
  });

  it('keeps the share that the workspace asks for', () => {
    const some = { ...on, ioLoggingSamplingRate: 0.25 };
    expect(isKept(some, 0.2499)).toBe(true);
    expect(isKept(some, 0.25)).toBe(false);
    expect(isKept({ ...on, ioLoggingSamplingRate: 1 }, 0.999_999)).toBe(true);
  });

  it('never keeps what asked for zero retention, nor what a list of keys leaves out', () => {
    expect(isKept(on, 0, { zdr: true })).toBe(false);
    expect(isKept({ ...on, ioLoggingApiKeyIds: [1, 2] })).toBe(false);
  });
});

describe('contentOf', () => {
  it.each<[string, Format, JsonObject, JsonObject]>([
    ['a plain prompt', 'responses', { input: 'Hi' }, { prompt: 'Hi' }],
    [
      'a prompt with instructions',
      'responses',
      { input: 'Hi', instructions: 'Be brief' },
      {
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    ['items', 'responses', { input: [{ type: 'x' }], instructions: null }, { messages: [{ type: 'x' }] }],
    [
      'messages with a system prompt',
      'messages',
      { system: [{ type: 'text', text: 'Be brief' }], messages: [{ role: 'user', content: 'Hi' }] },
      {
        messages: [
          { role: 'system', content: [{ type: 'text', text: 'Be brief' }] },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    [
      'chat',
      'chat',
      { messages: [{ role: 'user', content: 'Hi' }] },
      { messages: [{ role: 'user', content: 'Hi' }] },
    ],
  ])('keeps what was sent: %s', (_, format, body, input) => {
    const secret = { tools: [{ type: 'mcp', authorization: 'secret' }], metadata: { token: 'secret' } };
    const content = contentOf({ format, body: { ...body, ...secret } }, { result: nothing });
    expect(content).toEqual({
      input,
      output: { completion: null, reasoning: null },
      error: null,
      tools: ['mcp'],
    });
  });

  it('keeps the answer: words, thoughts, calls', () => {
    const result: Result = {
      items: [
        { type: 'reasoning', text: ['first ', 'then'], summary: ['in short'] },
        { type: 'reasoning', text: [], summary: [', in short'] },
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'text', text: 'Hello' },
            { type: 'refusal', refusal: ' no' },
          ],
        },
        { type: 'tool-call', kind: 'function', callId: 'c', name: 'f', input: '{"a":1}' },
      ],
    };
    expect(contentOf({ format: 'chat', body: {} }, { result }).output).toEqual({
      completion: 'Hello no',
      reasoning: 'first then, in short',
      tool_calls: [{ id: 'c', name: 'f', arguments: '{"a":1}' }],
    });
  });

  it('keeps why it failed', () => {
    const error = new GatewayError('upstream-unavailable', 'Provider returned error', {
      metadata: {
        provider_name: 'B',
        raw: 'boom',
        previous_errors: [{ provider: 'A', code: 429, status: 429 }],
      },
    });
    expect(contentOf({ format: 'chat', body: {} }, { result: nothing, error }).error).toEqual({
      status: 502,
      message: 'Provider returned error',
      provider_name: 'B',
      raw: 'boom',
      previous_errors: [{ code: 429, message: null, provider_name: 'A', raw: null }],
    });
  });
});
