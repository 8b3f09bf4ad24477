import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { SIMULATED_UPSTREAMS, UPSTREAMS } from '../../kit/models.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openTestGateway(SIMULATED_UPSTREAMS);
});
afterAll(() => gateway.close());

const PROVIDERS = {
  'responses format': (id: string) => createOpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey })(id),
  'chat format': (id: string) => createOpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey }).chat(id),
  'messages format': (id: string) => createAnthropic({ baseURL: gateway.url, apiKey: gateway.apiKey })(id),
};

const pairs = Object.keys(PROVIDERS).flatMap((format) =>
  UPSTREAMS.map((upstream) => [format, upstream] as const),
);

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

describe.each(pairs)('ai, %s, %s upstream', (format, upstream) => {
  const model = (behaviour: string) =>
    PROVIDERS[format as keyof typeof PROVIDERS](`${upstream}/${behaviour}`);

  it('generates text', async () => {
    const { text, usage, finishReason } = await generateText({
      model: model('standard'),
      prompt: 'Hello',
      maxRetries: 0,
    });
    expect(text).not.toBe('');
    expect(finishReason).toBe('stop');
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  it('streams text', async () => {
    const result = streamText({ model: model('standard'), prompt: 'Hello', maxRetries: 0 });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).not.toBe('');
    expect(await result.finishReason).toBe('stop');
    expect((await result.usage).inputTokens).toBeGreaterThan(0);
  });

  it('runs a tool loop while streaming', async () => {
    const result = streamText({
      model: model('tools'),
      prompt: 'Weather in Oslo?',
      tools,
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    await result.consumeStream();
    expect((await result.steps).length).toBe(2);
    expect(await result.text).toContain('17');
  });

  it('generates an object', async () => {
    const { object } = await generateObject({
      model: model('standard'),
      prompt: 'Somebody',
      schema: jsonSchema<{ name: string }>({
        type: 'object',
        properties: { name: { type: 'string' } },
        required: ['name'],
        additionalProperties: false,
      }),
      maxRetries: 0,
    });
    expect(typeof object.name).toBe('string');
  });

  it('reports errors', async () => {
    await expect(
      generateText({ model: model('fail-429'), prompt: 'x', maxRetries: 0 }),
    ).rejects.toMatchObject({
      statusCode: 429,
    });
  });
});
