import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import { fold } from '../../src/ir/folding/fold.ts';
import type { DialectName } from '../../src/ir/items.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { requestOf } from '../kit/builders/request.ts';

/** Answers that name neither themselves nor their two calls. */
const NAMELESS: Readonly<Record<DialectName, JsonObject>> = {
  chat: {
    choices: [
      {
        message: {
          tool_calls: [
            { function: { name: 'f', arguments: '{}' } },
            { function: { name: 'f', arguments: '{}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
  },
  messages: {
    content: [
      { type: 'tool_use', name: 'f', input: {} },
      { type: 'tool_use', name: 'f', input: {} },
    ],
    stop_reason: 'tool_use',
  },
  responses: {
    status: 'completed',
    output: [
      { type: 'function_call', name: 'f', arguments: '{}' },
      { type: 'function_call', name: 'f', arguments: '{}' },
    ],
  },
  gemini: {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ functionCall: { name: 'f', args: {} } }, { functionCall: { name: 'f', args: {} } }],
        },
        finishReason: 'STOP',
      },
    ],
  },
  bedrock: {
    output: {
      message: {
        role: 'assistant',
        content: [{ toolUse: { name: 'f', input: {} } }, { toolUse: { name: 'f', input: {} } }],
      },
    },
    stopReason: 'tool_use',
  },
};

describe.each(Object.keys(NAMELESS) as DialectName[])('calls that a %s upstream gave no ids', (name) => {
  const callIds = (idSeed: string): string[] => {
    const events =
      DIALECTS[name].upstream.decodeBody(NAMELESS[name], { request: requestOf({}), relay: false, idSeed }) ??
      [];
    return fold(events).items.flatMap((item) => (item.type === 'tool-call' ? [item.callId] : []));
  };

  it('get some that no other call of a conversation has', () => {
    const ids = [...callIds('first'), ...callIds('second')];
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    expect(callIds('first')).toEqual(ids.slice(0, 2));
  });
});
