import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../src/dialects/dialects.ts';
import type { Format } from '../../src/ir/items.ts';
import type { Json, JsonObject } from '../../src/kit/json/json.ts';
import { compileValidator } from '../../src/kit/json/validate.ts';

/** Lists that have an end in every format: what stands in them, and how often it may. */

const MINIMAL: Readonly<Record<Format, JsonObject>> = {
  chat: { model: 'a/b', messages: [{ role: 'user', content: 'Hi' }] },
  messages: { model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'a/b', input: 'Hi' },
};

type Row = readonly [list: string, most: number, entry: Json];

const SHARED: readonly Row[] = [
  ['models', 64, 'a/b'],
  ['plugins', 64, { id: 'moderation' }],
  ['stop_server_tools_when', 64, { type: 'step_count_is', step_count: 1 }],
];

const LISTS: Readonly<Record<Format, readonly Row[]>> = {
  chat: [...SHARED, ['tools', 4096, { type: 'web_search' }], ['modalities', 16, 'text']],
  messages: [...SHARED, ['tools', 4096, { name: 'f', input_schema: { type: 'object' } }]],
  responses: [
    ...SHARED,
    ['tools', 4096, { type: 'web_search' }],
    ['modalities', 16, 'text'],
    ['include', 64, 'reasoning.encrypted_content'],
  ],
};

describe.each(['chat', 'messages', 'responses'] as const)('a request in %s', (format) => {
  const validator = compileValidator(DIALECTS[format].inbound.requestSchema('acme'));
  const issuesOf = (list: string, entry: Json, length: number) =>
    validator.issuesOf({ ...MINIMAL[format], [list]: Array.from({ length }, () => entry) });

  it.each(LISTS[format])('has a list `%s` of at most %i entries', (list, most, entry) => {
    expect(issuesOf(list, entry, most)).toEqual([]);
    expect(issuesOf(list, entry, most + 1)).toEqual([
      { path: list, message: expect.stringContaining(`at most ${most}`) },
    ]);
  });
});
