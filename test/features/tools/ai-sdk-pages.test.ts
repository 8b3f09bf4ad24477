import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText, type ModelMessage, streamText, type ToolSet } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { doubleAnswer } from '../../kit/fakes/agents/double-answer.ts';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import type { UpstreamDouble } from '../../kit/fakes/agents/upstream-double.ts';
import type { Said } from '../../kit/fakes/agents/whole-answers.ts';
import { reply } from '../../kit/fakes/fake-upstream.ts';
import { type DoublesGateway, openDoublesGateway } from './doubles-gateway.ts';

/** The AI SDK has pages read by the tool of its Anthropic provider, before upstreams that read none themselves. */

let doubles: DoublesGateway;
let page: string;

beforeAll(async () => {
  doubles = await openDoublesGateway();
  // The gateway may call the engine, so the page is there too.
  page = `http://127.0.0.1:${doubles.engine.port}/page`;
});
beforeEach(() => doubles.clear());
afterAll(() => doubles.close());

const TITLE = 'A page';
const HTML = `<html><head><title>${TITLE}</title></head><body><p>A is the first letter.</p></body></html>`;
const ANSWER = 'A is a letter.';

const VERSIONS = ['webFetch_20250910', 'webFetch_20260209', 'webFetch_20260318'] as const;
const MODES = ['generateText', 'streamText'] as const;

/** Releases of the SDK differ in the versions that they know. */
const isKnown = (version: string) => version in createAnthropic({ apiKey: 'k' }).tools;

const CASES = VERSIONS.filter(isKnown).flatMap((version) =>
  DOUBLES.filter(({ dialect }) => dialect !== 'anthropic-messages').flatMap((double) =>
    MODES.map((mode) => ({ version, double, mode, dialect: double.dialect })),
  ),
);

async function ask({ version, double, mode }: (typeof CASES)[number], messages: ModelMessage[]) {
  const { gateway } = doubles;
  const provider = createAnthropic({ baseURL: gateway.url, apiKey: gateway.apiKey });
  const fetching = (provider.tools as Record<string, any>)[version]({
    maxUses: 2,
    citations: { enabled: true },
  });
  const settings = {
    model: provider(`one/${double.dialect}`),
    messages,
    tools: { web_fetch: fetching } as ToolSet,
    maxOutputTokens: 2000,
    maxRetries: 0,
  };
  if (mode === 'generateText') {
    const { text, content, response } = await generateText(settings);
    return { text, content, added: response.messages };
  }
  const errors: unknown[] = [];
  const result = streamText({ ...settings, onError: ({ error }) => void errors.push(error) });
  await result.consumeStream();
  expect(errors).toEqual([]);
  return {
    text: await result.text,
    content: await result.content,
    added: (await result.response).messages,
  };
}

function answers(double: UpstreamDouble, ...said: Said[]) {
  const upstream = doubles.upstreamOf(double);
  for (const each of said) upstream.answer(doubleAnswer(double, each));
  return upstream;
}

describe('pages in the AI SDK', () => {
  it.each(CASES)('$version with $mode, $dialect upstream', async (given) => {
    const { double } = given;
    doubles.engine.answer(reply(200, HTML, { 'content-type': 'text/html' }));
    const upstream = answers(
      double,
      {
        thoughts: 'I should read it.',
        seal: 'c2VhbA==',
        call: { id: 'call_f', name: 'web_fetch', arguments: { url: page } },
      },
      { says: ANSWER },
      { says: 'Yes.' },
    );
    const question: ModelMessage = { role: 'user', content: `What is on ${page}?` };
    const first = await ask(given, [question]);
    expect(first.text).toBe(ANSWER);
    expect(first.content).toContainEqual(
      expect.objectContaining({
        type: 'tool-result',
        toolName: 'web_fetch',
        providerExecuted: true,
        output: expect.objectContaining({ type: 'web_fetch_result', url: page }),
      }),
    );
    expect(double.stepsOf(upstream.requests[1]?.json)[0]?.output).toContain('first letter');
    const next = await ask(given, [question, ...first.added, { role: 'user', content: 'Sure?' }]);
    expect(next.text).toBe('Yes.');
    expect(double.stepsOf(upstream.requests[2]?.json)[0]?.output).toContain('first letter');
    expect(doubles.engine.requests).toHaveLength(1);
  });
});
