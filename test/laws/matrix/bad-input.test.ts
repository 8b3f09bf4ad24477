import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../../src/ir/items.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { planRoute } from '../../../src/routing/plan-route.ts';
import { endpointOf, modelOf, providerOf } from '../../kit/builders/catalog.ts';
import { routeOf } from '../../kit/builders/route.ts';
import { lanesOf, parse, send } from './judge-request.ts';
import { messages, user } from './request-feature.ts';
import { MEDIA } from './requests/media.ts';
import { TOOLS_CHAPTER } from './requests/tools.ts';
import { FORMATS, UPSTREAMS } from './verdict.ts';

const textOnly = modelOf();
const seeing = modelOf({
  id: 'acme/seeing',
  inputModalities: ['text', 'image'],
  endpoints: [endpointOf({ modelId: 'acme/seeing', provider: providerOf({ slug: 'eyes', name: 'Eyes' }) })],
});

const titled = [...MEDIA.features, ...TOOLS_CHAPTER.features];
const withImage = titled.filter(({ title }) => /image/i.test(title));

describe('an image for a model that reads only text', () => {
  it.each(withImage.flatMap(({ title, asked }) => FORMATS.map((format) => ({ title, format, asked }))))(
    '$title in $format is never sent there',
    ({ format, asked }) => {
      const body = asked[format];
      if (body === undefined) return;
      const request = parse(format, body);
      const { ranked, rejected } = planRoute(routeOf([textOnly, seeing], { request }));
      expect(ranked.map(({ model }) => model.id)).toEqual(['acme/seeing']);
      expect(rejected).toMatchObject([{ filter: 'input_modalities', reason: 'takes no image input' }]);
    },
  );
});

/** Conversations that agents send after a failure; an upstream must see none of them unchanged. */
const HISTORIES: Readonly<Record<string, readonly JsonObject[]>> = {
  'a result before its call': [
    user([{ type: 'tool_result', tool_use_id: 'a', content: 'Rain' }]),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'weather', input: {} }] },
    user('So?'),
  ],
  'two results of one call': [
    user(),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'weather', input: {} }] },
    user([
      { type: 'tool_result', tool_use_id: 'a', content: 'Rain' },
      { type: 'tool_result', tool_use_id: 'a', content: 'Sun' },
    ]),
  ],
  'nothing but a result without its call': [
    user([{ type: 'tool_result', tool_use_id: 'a', content: 'Rain', is_error: true }]),
  ],
};

const pairs = Object.entries(HISTORIES).flatMap(([title, history]) =>
  UPSTREAMS.map((upstream) => ({ title, history, upstream })),
);

it.each(pairs)('$title becomes a conversation that $upstream takes', ({ history, upstream }) => {
  const tools = [{ name: 'weather', input_schema: { type: 'object' } }];
  const body = messages([...history], { tools });
  const sent = send(
    { arrives: ARRIVES },
    body,
    'messages',
    upstream,
    lanesOf('messages', upstream)[0] ?? 'relay',
  );
  expect(sent.verdict).toBe('adapted');
  const [calls, answers] = CALLS_AND_RESULTS[upstream];
  expect(count(answers, sent.body)).toBe(count(calls, sent.body));
});

const said = (body: unknown) => JSON.stringify(body).includes('Rain');
const ARRIVES = { responses: said, messages: said, chat: said, gemini: said, bedrock: said };

/** How calls and results are written. */
const CALLS_AND_RESULTS: Readonly<Record<DialectName, readonly [calls: RegExp, results: RegExp]>> = {
  responses: [/"type":"function_call"/g, /"type":"function_call_output"/g],
  messages: [/"type":"tool_use"/g, /"type":"tool_result"/g],
  chat: [/"arguments":/g, /"tool_call_id":/g],
  gemini: [/"functionCall":/g, /"functionResponse":/g],
  bedrock: [/"toolUse":/g, /"toolResult":/g],
};

function count(pattern: RegExp, body: unknown): number {
  return JSON.stringify(body).match(pattern)?.length ?? 0;
}
