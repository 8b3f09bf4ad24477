import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { messagesAnswer } from '../../../kit/fakes/answers.ts';
import { type GuardedGateway, openGuardedGateway } from './guarded-gateway.ts';

/** Nothing that a caller writes besides ids gets past a filter that blocks it, in whatever field or header. */

let guarded: GuardedGateway;
let key: string;

beforeAll(async () => {
  guarded = await openGuardedGateway();
  key = await guarded.guard({
    content_filters: [{ pattern: '(?i)forbidden', action: 'block', label: 'BAD' }],
  });
});
beforeEach(() => guarded.upstream.clear());
afterAll(() => guarded.close());

const PLANTED = 'forbidden';
const tool = (more: JsonObject) => ({
  tools: [{ name: 'look', input_schema: { type: 'object' }, ...more }],
});

const FIELDS: Readonly<Record<string, JsonObject>> = {
  system: { system: PLANTED },
  'the name of a tool': tool({ name: PLANTED }),
  'the description of a tool': tool({ description: PLANTED }),
  'the description in a schema': tool({
    input_schema: { type: 'object', properties: { a: { type: 'string', description: PLANTED } } },
  }),
  'an enumeration of a schema': tool({
    input_schema: { type: 'object', properties: { a: { enum: [PLANTED] } } },
  }),
  'a name in a schema': tool({ input_schema: { type: 'object', properties: { [PLANTED]: {} } } }),
  'a stop sequence': { stop_sequences: [PLANTED] },
  'the id of an end user': { metadata: { user_id: PLANTED } },
  'an unknown field': { unknown_field: PLANTED },
};

const HEADERS: Readonly<Record<string, string>> = {
  'anthropic-beta': `a-1,${PLANTED} text`,
  'x-anthropic-beta': PLANTED.toUpperCase(),
  'anthropic-version': PLANTED,
  'x-session-id': PLANTED,
  'x-title': PLANTED,
  'http-referer': `https://${PLANTED}.test`,
  'user-agent': PLANTED,
  'x-made-up': PLANTED,
};

const ask = (more: JsonObject, headers: Record<string, string> = {}) => {
  guarded.upstream.answer(messagesAnswer({ text: 'Fine.' }));
  const messages = [{ role: 'user', content: 'Hello.' }];
  const body = { model: 'm/anthropic-messages', max_tokens: 99, messages, ...more };
  return guarded.ask(key, '/messages', body, headers);
};

/** All that went upstream. */
const sent = () =>
  JSON.stringify(guarded.upstream.requests.map(({ headers, body, path }) => [headers, body, path]));

describe('a text that a guardrail blocks', () => {
  it.each(Object.entries(FIELDS))('does not go upstream in %s', async (_, field) => {
    const { status, text } = await ask(field);
    expect([200, 400, 403], text).toContain(status);
    expect(sent().toLowerCase()).not.toContain(PLANTED);
  });

  it.each(Object.entries(HEADERS))('does not go upstream in the header %s', async (name, value) => {
    const { status, text } = await ask({}, { [name]: value });
    expect([200, 400, 403], text).toContain(status);
    if (name.endsWith('beta')) expect(status).toBe(400);
    expect(sent().toLowerCase()).not.toContain(PLANTED);
  });
});

it('sends names of betas', async () => {
  expect((await ask({}, { 'anthropic-beta': 'context-1m-2025-08-07' })).status).toBe(200);
  expect(sent()).toContain('context-1m-2025-08-07');
});
