import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { doubleAnswer } from '../../kit/fakes/agents/double-answer.ts';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import { CALL_ID, SEAL, THOUGHTS } from '../../kit/fakes/agents/tool-loop.ts';
import type { Step } from '../../kit/fakes/agents/upstream-double.ts';
import type { Said } from '../../kit/fakes/agents/whole-answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/**
 * `ai` with `@ai-sdk/openai` as it comes: it takes the service for one that stores, and sends `item_reference`
 * instead of what was said and thought before.
 */

const MODEL_ID = 'double/talker';

const tools = {
  get_weather: tool({
    description: 'Weather of a city',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    }),
    execute: async () => '17 degrees',
  }),
};

const THINKING: Step = {
  thoughts: THOUGHTS,
  seal: SEAL,
  call: { id: CALL_ID, name: 'get_weather', arguments: { city: 'Oslo' } },
};
const SPEAKING: Step = { ...THINKING, says: 'I shall look at the sky.' };

/** Without being asked an upstream that stores nothing gives no seals. */
const SEALS = 'reasoning.encrypted_content';

const MODES = ['streamed', 'whole'] as const;
const cases = DOUBLES.flatMap((double) => MODES.map((mode) => ({ double, mode, dialect: double.dialect })));

describe.each(cases)('ai at its default settings, $dialect upstream, $mode', ({ double, mode }) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  /** Bodies that the client sent. */
  let sent: any[];

  beforeAll(async () => {
    upstream = await openFakeUpstream();
    gateway = await openTestGateway({
      providers: [{ slug: 'double', dialect: double.dialect, base_url: upstream.url, api_key: 'k' }],
      models: [
        {
          id: MODEL_ID,
          context_length: 200_000,
          max_output_tokens: 64_000,
          reasoning: { mandatory: false, default_enabled: true },
          endpoints: [{ provider: 'double', model: double.model }],
        },
      ],
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });
  beforeEach(() => {
    sent = [];
    upstream.clear();
  });

  const model = () =>
    createOpenAI({
      baseURL: gateway.url,
      apiKey: gateway.apiKey,
      fetch: (url, init) => {
        sent.push(JSON.parse(String(init?.body)));
        return fetch(url, init);
      },
    })(MODEL_ID);

  const answers = (...said: Said[]) => {
    for (const each of said) upstream.answer(doubleAnswer(double, each));
  };

  /**
   * One call of the library, to the end of its tool loop: the messages that it adds to the conversation, and its
   * words.
   */
  const ask = async (messages: ModelMessage[]) => {
    const settings = { model: model(), messages, tools, stopWhen: stepCountIs(4), maxRetries: 0 };
    if (mode === 'whole') {
      const { response, text } = await generateText(settings);
      return { added: response.messages, text };
    }
    const result = streamText({ ...settings, onError: ({ error }) => Promise.reject(error) });
    await result.consumeStream();
    return { added: (await result.response).messages, text: await result.text };
  };

  const referencesSent = (index: number) =>
    sent[index].input.filter((item: any) => item.type === 'item_reference');

  it('holds a conversation of three turns', async () => {
    answers({ says: 'First words.' }, { says: 'Second words.' }, { says: 'Third words.' });
    const messages: ModelMessage[] = [{ role: 'user', content: 'One' }];
    for (const [words, next] of [
      ['First words.', 'Two'],
      ['Second words.', 'Three'],
      ['Third words.', ''],
    ]) {
      const { added, text } = await ask(messages);
      expect(text).toBe(words);
      messages.push(...added, { role: 'user', content: next ?? '' });
    }
    expect(referencesSent(1)).toHaveLength(1);
    expect(referencesSent(2)).toHaveLength(2);
    expect(wordsOfModel(upstream.requests[2]?.json)).toEqual(['First words.', 'Second words.']);
  });

  it('runs a tool loop in which the model speaks first', async () => {
    answers(SPEAKING, { says: 'It is mild.' }, { says: 'Not at all.' });
    const messages: ModelMessage[] = [{ role: 'user', content: 'Weather in Oslo?' }];
    const { added, text } = await ask(messages);
    expect(text).toBe('It is mild.');
    expect(wordsOfModel(upstream.requests[1]?.json)).toContain(SPEAKING.says);
    const { text: last } = await ask([...messages, ...added, { role: 'user', content: 'Thanks' }]);
    expect(last).toBe('Not at all.');
    for (const { json } of upstream.requests.slice(1)) {
      expect(double.stepsOf(json)).toEqual([
        { thoughts: THOUGHTS, seal: SEAL, call: THINKING.call, output: expect.stringContaining('17') },
      ]);
    }
  });

  it('runs a tool loop in which the model thinks, and gets its sealed thoughts back', async () => {
    answers(THINKING, { says: 'It is mild.' });
    const { text } = await ask([{ role: 'user', content: 'Weather in Oslo?' }]);
    expect(text).toBe('It is mild.');
    if (double.dialect === 'openai-responses') {
      expect(sent[0].include).toBeUndefined();
      expect(upstream.requests[0]?.json).toMatchObject({ include: [SEALS], store: false });
    }
    expect(double.stepsOf(upstream.requests[1]?.json)).toEqual([
      { thoughts: THOUGHTS, seal: SEAL, call: THINKING.call, output: expect.stringContaining('17') },
    ]);
  });

  it('runs a tool loop in which the thoughts are sealed but not shown', async () => {
    answers({ ...THINKING, thoughts: '' }, { says: 'It is mild.' });
    const { text } = await ask([{ role: 'user', content: 'Weather in Oslo?' }]);
    expect(text).toBe('It is mild.');
    expect(double.stepsOf(upstream.requests[1]?.json)).toEqual([
      { thoughts: undefined, seal: SEAL, call: THINKING.call, output: expect.stringContaining('17') },
    ]);
  });
});

/** Earlier answers of the model, as sent to an upstream of any dialect. */
function wordsOfModel(body: any): string[] {
  const turns: any[] = [...(body.messages ?? []), ...(body.contents ?? []), ...listOf(body.input)];
  return turns
    .filter(({ role }) => role === 'assistant' || role === 'model')
    .flatMap(({ content, parts }) => (typeof content === 'string' ? [content] : textsOf(parts ?? content)));
}

function textsOf(parts: any[] | null): string[] {
  return (parts ?? []).flatMap(({ text, thought }) =>
    typeof text === 'string' && thought !== true ? [text] : [],
  );
}

function listOf(input: unknown): any[] {
  return Array.isArray(input) ? input : [];
}
