import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import {
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
} from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { doubleAnswer } from '../../kit/fakes/agents/double-answer.ts';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import type { UpstreamDouble } from '../../kit/fakes/agents/upstream-double.ts';
import type { Said } from '../../kit/fakes/agents/whole-answers.ts';
import { type FakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import type { TestGateway } from '../../kit/gateway-harness.ts';
import { type DoublesGateway, openDoublesGateway } from './doubles-gateway.ts';

/** Server tools as users of the AI SDK ask for them: by the hosted tools of its providers, and by our own names. */

let doubles: DoublesGateway;
let engine: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  doubles = await openDoublesGateway();
  ({ engine, gateway } = doubles);
});
beforeEach(() => doubles.clear());
afterAll(() => doubles.close());

const PAGE = { url: 'https://www.example.com/a', title: 'About A', content: 'A is the first letter.' };
const ANSWER = `See [example.com](${PAGE.url}).`;
const SEARCH: Said = {
  thoughts: 'I should search.',
  seal: 'c2VhbA==',
  call: { id: 'call_s', name: 'web_search', arguments: { query: 'letter A' } },
};
const WEATHER: Said = { ...SEARCH, call: { id: 'call_w', name: 'get_weather', arguments: { city: 'Oslo' } } };

const weather = tool({
  description: 'Weather of a city',
  inputSchema: jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }),
  execute: async () => '17 degrees',
});

/** Adds a tool to the bodies of requests: the providers have no way to name one that they do not know. */
const withTool =
  (type: string): typeof fetch =>
  (url, init) => {
    const body = JSON.parse(String(init?.body));
    return fetch(url, {
      ...init,
      body: JSON.stringify({ ...body, tools: [...(body.tools ?? []), { type }] }),
    });
  };

const MODES = ['generateText', 'streamText'] as const;
type Mode = (typeof MODES)[number];

interface Way {
  readonly title: string;
  readonly model: (id: string) => LanguageModel;
  /** Tools of the provider. */
  readonly tools: () => ToolSet;
  /** True if the caller sees the search as a call that the provider ran. */
  readonly showsCall: boolean;
  /** Absent: both. */
  readonly modes?: readonly Mode[];
  /** Dialects whose upstreams run the tool themselves. */
  readonly native: readonly string[];
}

const openai = (more: object = {}) => createOpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey, ...more });
const anthropic = (more: object = {}) =>
  createAnthropic({ baseURL: gateway.url, apiKey: gateway.apiKey, ...more });
const OWN = 'signalbox:web_search';

const WAYS: readonly Way[] = [
  {
    title: 'webSearch of openai responses',
    model: (id) => openai()(id),
    tools: () => ({ web_search: openai().tools.webSearch({}) }) as ToolSet,
    showsCall: true,
    native: ['openai-responses'],
  },
  {
    title: `${OWN} on openai responses`,
    model: (id) => openai({ fetch: withTool(OWN) })(id),
    tools: () => ({}),
    showsCall: false,
    // The provider refuses whole answers with items whose type it does not know.
    modes: ['streamText'],
    native: [],
  },
  {
    title: `${OWN} on openai chat`,
    model: (id) => openai({ fetch: withTool(OWN) }).chat(id),
    tools: () => ({}),
    showsCall: false,
    native: [],
  },
  {
    title: 'webSearch_20250305 of anthropic',
    model: (id) => anthropic()(id),
    tools: () => ({ web_search: anthropic().tools.webSearch_20250305({ maxUses: 2 }) }) as ToolSet,
    showsCall: true,
    native: ['anthropic-messages'],
  },
  {
    title: 'webSearch_20260209 of anthropic',
    model: (id) => anthropic()(id),
    tools: () => ({ web_search: anthropic().tools.webSearch_20260209({ maxUses: 2 }) }) as ToolSet,
    showsCall: true,
    native: ['anthropic-messages'],
  },
  {
    title: `${OWN} on anthropic`,
    model: (id) => anthropic({ fetch: withTool(OWN) })(id),
    tools: () => ({}),
    showsCall: true,
    native: [],
  },
];

/** One call of the library, to the end of its own loop. */
async function ask(mode: Mode, way: Way, double: UpstreamDouble, messages: ModelMessage[]) {
  const settings = {
    model: way.model(`one/${double.dialect}`),
    messages,
    tools: { ...way.tools(), get_weather: weather } as ToolSet,
    stopWhen: stepCountIs(4),
    maxRetries: 0,
  };
  if (mode === 'generateText') {
    const { response, text, sources, steps, finishReason } = await generateText(settings);
    return { added: response.messages, text, sources, steps, finishReason };
  }
  const result = streamText({ ...settings, onError: ({ error }) => Promise.reject(error) });
  const errors: unknown[] = [];
  for await (const part of result.fullStream) if (part.type === 'error') errors.push(part.error);
  expect(errors).toEqual([]);
  return {
    added: (await result.response).messages,
    text: await result.text,
    sources: await result.sources,
    steps: await result.steps,
    finishReason: await result.finishReason,
  };
}

function answers(double: UpstreamDouble, ...said: Said[]): FakeUpstream {
  const upstream = doubles.upstreamOf(double);
  for (const each of said) upstream.answer(doubleAnswer(double, each));
  return upstream;
}

/** Whole answers of one dialect, streams of all. */
const CASES = WAYS.flatMap((way) =>
  DOUBLES.filter(({ dialect }) => !way.native.includes(dialect)).flatMap((double, index) =>
    (way.modes ?? MODES)
      .filter((mode) => mode === 'streamText' || index === 0)
      .map((mode) => ({ way, double, mode, title: way.title, dialect: double.dialect })),
  ),
);

const QUESTION: ModelMessage = { role: 'user', content: 'What is A?' };

describe('ai', () => {
  it.each(CASES)('$mode: $title, $dialect upstream', async ({ way, double, mode }) => {
    engine.answer(reply(200, { results: [PAGE] }));
    const upstream = answers(double, SEARCH, { says: ANSWER }, { says: 'Yes.' });
    const first = await ask(mode, way, double, [QUESTION]);
    expect(first.text).toBe(ANSWER);
    expect(first.finishReason).toBe('stop');
    expect(first.steps).toHaveLength(1);
    expect(upstream.requests).toHaveLength(2);
    expect(double.stepsOf(upstream.requests[1]?.json)[0]?.output).toContain(PAGE.content);
    const calls = first.steps.flatMap(({ toolCalls }) => toolCalls);
    expect(calls.map(({ toolName, providerExecuted }) => [toolName, providerExecuted])).toEqual(
      way.showsCall ? [['web_search', true]] : [],
    );
    expect(first.sources).toContainEqual(expect.objectContaining({ url: PAGE.url }));
    const next = await ask(mode, way, double, [QUESTION, ...first.added, { role: 'user', content: 'Sure?' }]);
    expect(next.text).toBe('Yes.');
    expect(upstream.requests).toHaveLength(3);
  });

  it.each(CASES.filter(({ double }) => double === DOUBLES[0]))(
    '$mode: $title, beside a function',
    async ({ way, double, mode }) => {
      engine.answer(reply(200, { results: [PAGE] }));
      const upstream = answers(double, SEARCH, WEATHER, { says: 'It is mild.' });
      const { text, steps } = await ask(mode, way, double, [QUESTION]);
      expect(text).toBe('It is mild.');
      expect(steps).toHaveLength(2);
      expect(upstream.requests).toHaveLength(3);
      const outputs = double.stepsOf(upstream.requests[2]?.json).map(({ output }) => output);
      expect(outputs.at(-1)).toContain('17 degrees');
    },
  );
});
