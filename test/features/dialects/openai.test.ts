import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { SIMULATED_UPSTREAMS, UPSTREAMS } from '../../kit/models.ts';

let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  gateway = await openTestGateway(SIMULATED_UPSTREAMS);
  client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey, maxRetries: 0 });
});
afterAll(() => gateway.close());

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    required: ['city', 'unit'],
    additionalProperties: false,
  },
  strict: true,
};
const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
  required: ['name', 'age'],
  additionalProperties: false,
};

describe.each(UPSTREAMS)('openai, responses format, %s upstream', (upstream) => {
  const model = `${upstream}/standard`;

  it('creates a response', async () => {
    const response = await client.responses.create({ model, input: 'Hello there' });
    expect(response.status).toBe('completed');
    expect(response.model).toBe(model);
    expect(response.output_text).not.toBe('');
    expect(response.usage?.input_tokens).toBeGreaterThan(0);
    expect(response.usage?.output_tokens).toBeGreaterThan(0);
    const usage = response.usage as unknown as { cost: number };
    expect(usage.cost).toBeCloseTo(
      ((response.usage?.input_tokens ?? 0) + 2 * (response.usage?.output_tokens ?? 0)) / 1e6,
      12,
    );
  });

  it('streams through the accumulating helper, with stable ids', async () => {
    const stream = client.responses.stream({ model, input: 'Tell me a story' });
    let text = '';
    const sequence: number[] = [];
    for await (const event of stream) {
      sequence.push(event.sequence_number);
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    const final = await stream.finalResponse();
    expect(text).not.toBe('');
    expect(final.output_text).toBe(text);
    expect(sequence).toEqual(sequence.map((_, index) => index));
  });

  it('says the same streamed and whole', async () => {
    const input = 'The same, please';
    const whole = await client.responses.create({ model, input });
    const streamed = await client.responses.stream({ model, input }).finalResponse();
    expect(streamed.output_text).toBe(whole.output_text);
    expect(streamed.usage).toEqual(whole.usage);
  });

  it('goes through a tool call and back', async () => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'What is the weather in Oslo?' }];
    const first = await client.responses.create({ model: `${upstream}/tools`, input, tools: [weather] });
    const call = first.output.find((item) => item.type === 'function_call');
    expect(call).toMatchObject({ name: 'get_weather' });
    const given = JSON.parse(call?.type === 'function_call' ? call.arguments : '') as { unit: string };
    expect(['celsius', 'fahrenheit']).toContain(given.unit);
    input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]));
    input.push({
      type: 'function_call_output',
      call_id: call?.type === 'function_call' ? call.call_id : '',
      output: '{"degrees": 17}',
    });
    const second = await client.responses.create({ model: `${upstream}/tools`, input, tools: [weather] });
    expect(second.output_text).toContain('17');
  });

  it('streams a tool call', async () => {
    const stream = client.responses.stream({
      model: `${upstream}/tools`,
      input: 'Weather?',
      tools: [weather],
    });
    const final = await stream.finalResponse();
    const call = final.output.find((item) => item.type === 'function_call');
    expect(Object.keys(JSON.parse(call?.type === 'function_call' ? call.arguments : '{}')).sort()).toEqual([
      'city',
      'unit',
    ]);
  });

  it('gives structured output', async () => {
    const response = await client.responses.parse({
      model,
      input: 'Somebody',
      text: { format: { type: 'json_schema', name: 'person', schema: person, strict: true } },
    });
    const value = JSON.parse(response.output_text) as { name: string; age: number };
    expect(typeof value.name).toBe('string');
    expect(Number.isInteger(value.age)).toBe(true);
  });

  it('brings reasoning, and takes it back', async () => {
    const first = await client.responses.create({
      model: `${upstream}/reasoning`,
      input: 'Think',
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    });
    const reasoning = first.output.find((item) => item.type === 'reasoning');
    expect(reasoning).toBeDefined();
    expect(first.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    const again = await client.responses.create({
      model: `${upstream}/reasoning`,
      input: [
        { role: 'user', content: 'Think' },
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { role: 'user', content: 'Go on' },
      ],
    });
    expect(again.status).toBe('completed');
  });

  it('ends incomplete at the output limit', async () => {
    const response = await client.responses.create({ model, input: 'A long one', max_output_tokens: 3 });
    expect(response.status).toBe('incomplete');
    expect(response.incomplete_details?.reason).toBe('max_output_tokens');
  });

  it('turns upstream failures into typed errors', async () => {
    const limited = await client.responses
      .create({ model: `${upstream}/fail-429`, input: 'x' })
      .catch((error) => error);
    expect(limited).toBeInstanceOf(OpenAI.RateLimitError);
    expect(limited.headers.get('retry-after')).toBe('7');
    const broken = await client.responses
      .create({ model: `${upstream}/fail-500`, input: 'x' })
      .catch((error) => error);
    expect(broken.status).toBe(502);
    const overloaded = await client.responses
      .create({ model: `${upstream}/fail-529`, input: 'x' })
      .catch((error) => error);
    expect(overloaded.status).toBe(529);
  });

  it('fails inside the stream when the upstream breaks off', async () => {
    const stream = await client.responses.create({ model: `${upstream}/cut`, input: 'x', stream: true });
    const types: string[] = [];
    let last: OpenAI.Responses.ResponseStreamEvent | undefined;
    for await (const event of stream) {
      types.push(event.type);
      last = event;
    }
    expect(last?.type).toBe('response.failed');
    expect(types).not.toContain('response.completed');
    expect(last?.type === 'response.failed' && typeof last.response.error?.code).toBe('string');
  });

  it('stops the upstream when the caller aborts', async () => {
    const before = gateway.logged('generation').length;
    const stream = await client.responses.create({
      model: `${upstream}/slow-stream`,
      input: 'x',
      stream: true,
    });
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    stream.controller.abort();
    await expect.poll(() => gateway.logged('generation').length).toBeGreaterThan(before);
    expect(gateway.logged('generation').at(-1)).toMatchObject({ outcome: 'aborted' });
  });
});

describe.each(UPSTREAMS)('openai, chat format, %s upstream', (upstream) => {
  const model = `${upstream}/standard`;

  it('creates and streams', async () => {
    const messages = [{ role: 'user' as const, content: 'Hello there' }];
    const whole = await client.chat.completions.create({ model, messages });
    expect(whole.choices[0]?.finish_reason).toBe('stop');
    const stream = client.chat.completions.stream({ model, messages });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
    expect(streamed.usage?.total_tokens).toBe(whole.usage?.total_tokens);
    expect(whole.usage?.total_tokens).toBeGreaterThan(0);
  });

  it('goes through a tool call and back', async () => {
    const { type: _, ...definition } = weather;
    const tools = [{ type: 'function' as const, function: definition }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather in Oslo?' }];
    const first = await client.chat.completions.create({ model: `${upstream}/tools`, messages, tools });
    const message = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    const call = message?.tool_calls?.[0];
    messages.push(message as OpenAI.ChatCompletionMessageParam);
    messages.push({ role: 'tool', tool_call_id: call?.id ?? '', content: '17 degrees' });
    const second = await client.chat.completions.create({ model: `${upstream}/tools`, messages, tools });
    expect(second.choices[0]?.message.content).toContain('17');
  });

  it('throws on a failure inside the stream', async () => {
    const stream = await client.chat.completions.create({
      model: `${upstream}/cut`,
      messages: [{ role: 'user', content: 'x' }],
      stream: true,
    });
    await expect(async () => {
      for await (const _ of stream);
    }).rejects.toThrow();
  });
});

describe('openai, around generation', () => {
  it('lists models', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toContain('chat/standard');
  });

  it('gets a typed error for a wrong key and an unknown model', async () => {
    const stranger = new OpenAI({ baseURL: gateway.url, apiKey: 'sk-sb-v1-nobody', maxRetries: 0 });
    const denied = await stranger.responses
      .create({ model: 'chat/standard', input: 'x' })
      .catch((error) => error);
    expect(denied).toBeInstanceOf(OpenAI.AuthenticationError);
    const unknown = await client.responses.create({ model: 'no/such', input: 'x' }).catch((error) => error);
    expect(unknown).toBeInstanceOf(OpenAI.BadRequestError);
    expect(unknown.message).toContain('no/such is not a valid model ID');
  });

  it('falls back to the next model', async () => {
    const body = { model: 'chat/fail-500', models: ['messages/standard'], input: 'x' };
    const response = await client.responses.create(body);
    expect(response.model).toBe('messages/standard');
  });
});
