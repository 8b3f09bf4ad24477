import { describe, expect, it } from 'vitest';
import type { Item, ToolCallItem } from '../../ir/items.ts';
import type { Tool } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { judgeToolCalls } from './tool-call-quality.ts';

const weather: Tool = {
  type: 'function',
  name: 'weather',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', maximum: 7 } },
    required: ['city'],
    additionalProperties: false,
  },
};
const patch: Tool = { type: 'custom', name: 'patch' };
const now: Tool = { type: 'function', name: 'now' };
const grouped: Tool = { type: 'function', name: 'find', namespace: { name: 'files' } };
const bash: Tool = {
  type: 'hosted',
  dialect: 'messages',
  kind: 'bash_20250124',
  value: { type: 'bash_20250124', name: 'bash' },
};
const tools = [weather, patch, now, grouped, bash];

const call = (name: string, input: string, more: Partial<ToolCallItem> = {}): Item => ({
  type: 'tool-call',
  kind: 'function',
  callId: 'call-1',
  name,
  input,
  ...more,
});

describe('judgeToolCalls', () => {
  it.each<[string, Item[], string]>([
    ['no calls', [{ type: 'message', role: 'assistant', content: [] }], 'none'],
    ['arguments that fit', [call('weather', '{"city":"Bern","days":3}')], 'good'],
    ['arguments that are no JSON', [call('weather', '{"city":"Bern"')], 'bad'],
    ['an unknown tool', [call('wetter', '{"city":"Bern"}')], 'bad'],
    ['a required member missing', [call('weather', '{"days":3}')], 'bad'],
    ['a member of another type', [call('weather', '{"city":7}')], 'bad'],
    ['a member too many', [call('weather', '{"city":"Bern","unit":"C"}')], 'bad'],
    ['a list instead of an object', [call('weather', '[]')], 'bad'],
    ['no arguments where none are needed', [call('now', '')], 'good'],
    ['no arguments where some are needed', [call('weather', '')], 'bad'],
    ['free text for a free-text tool', [call('patch', '*** begin', { kind: 'custom' })], 'good'],
    ['a tool of a group', [call('find', '{}', { namespace: 'files' })], 'good'],
    ['a tool of another group', [call('find', '{}', { namespace: 'web' })], 'bad'],
    ['a tool that the upstream knows', [call('bash', '{"command":"ls"}')], 'good'],
    ['a call that was cut off', [call('weather', '{"ci', { status: 'incomplete' })], 'none'],
    ['one bad call among good ones', [call('now', '{}'), call('weather', '{}')], 'bad'],
  ])('%s', (_, items, verdict) => {
    expect(judgeToolCalls({ tools }, items)).toBe(verdict);
  });

  it('follows references and unions', () => {
    const parameters: JsonObject = {
      $defs: { point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
      type: 'object',
      properties: { at: { anyOf: [{ $ref: '#/$defs/point' }, { type: 'null' }] } },
    };
    const judge = (input: string) =>
      judgeToolCalls({ tools: [{ type: 'function', name: 'go', parameters }] }, [call('go', input)]);
    expect(judge('{"at":{"x":1}}')).toBe('good');
    expect(judge('{"at":null}')).toBe('good');
    expect(judge('{"at":{"y":1}}')).toBe('bad');
  });

  describe('of hostile schemas and arguments is quick, and in doubt good', () => {
    const doubling = (): JsonObject => {
      const $defs: JsonObject = { d0: { type: 'string' } };
      for (let index = 1; index <= 40; index++) {
        const part = { $ref: `#/$defs/d${index - 1}` };
        $defs[`d${index}`] = { allOf: [part, part] };
      }
      return { $defs, properties: { a: { $ref: '#/$defs/d40' } } };
    };
    const long = 'a'.repeat(50_000);
    const cases: [string, JsonObject, string, string][] = [
      [
        'a pattern that backtracks',
        { properties: { a: { pattern: '^(a+)+$' } } },
        `{"a":"${long}!"}`,
        'good',
      ],
      ['references in a circle', { $ref: '#' }, '{}', 'good'],
      ['references that double', doubling(), '{"a":"x"}', 'good'],
      ['not, when there is no time left', { ...doubling(), not: { $ref: '#/$defs/d40' } }, '"x"', 'good'],
      [
        'a thousand branches for a thousand values',
        { items: { anyOf: Array.from({ length: 1000 }, () => ({ type: 'string' })) } },
        JSON.stringify(Array.from({ length: 1000 }, (_, index) => index)),
        'good',
      ],
      ['arguments of a megabyte', { required: ['b'] }, `{"a":"${'a'.repeat(1_000_000)}"}`, 'good'],
      ['deep arguments', {}, '['.repeat(60_000), 'good'],
      [
        'a schema that is none',
        { type: 7, properties: 'x', required: {}, $ref: [] } as JsonObject,
        '{}',
        'bad',
      ],
    ];
    it.each(cases)('%s', (_, parameters, input, verdict) => {
      const request = { tools: [{ type: 'function', name: 'go', parameters } as const] };
      const times = Array.from({ length: 20 }, () => {
        const started = performance.now();
        expect(judgeToolCalls(request, [call('go', input)])).toBe(verdict);
        return performance.now() - started;
      });
      expect(Math.min(...times)).toBeLessThan(5);
    });
  });
});
