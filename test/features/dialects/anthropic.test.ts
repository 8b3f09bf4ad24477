import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { SIMULATED_UPSTREAMS, UPSTREAMS } from '../../kit/models.ts';

let gateway: TestGateway;
let client: Anthropic;

beforeAll(async () => {
  gateway = await openTestGateway(SIMULATED_UPSTREAMS);
  client = new Anthropic({ baseURL: `${gateway.origin}/api`, apiKey: gateway.apiKey, maxRetries: 0 });
});
afterAll(() => gateway.close());

const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'Weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe.each(UPSTREAMS)('@anthropic-ai/sdk, %s upstream', (upstream) => {
  const model = `${upstream}/standard`;
  const hello: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello there' }];

  it('creates a message', async () => {
    const message = await client.messages.create({ model, max_tokens: 500, messages: hello });
    expect(message).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn', model });
    expect(message.content[0]?.type === 'text' && message.content[0].text).toBeTruthy();
    expect(message.usage.input_tokens).toBeGreaterThan(0);
  });

  it('streams through the helper, the same as whole', async () => {
    const whole = await client.messages.create({ model, max_tokens: 500, messages: hello });
    const final = await client.messages.stream({ model, max_tokens: 500, messages: hello }).finalMessage();
    expect(final.content.map((block) => block.type === 'text' && block.text)).toEqual(
      whole.content.map((block) => block.type === 'text' && block.text),
    );
    expect(final.usage.output_tokens).toBe(whole.usage.output_tokens);
    expect(final.usage.input_tokens).toBe(whole.usage.input_tokens);
  });

  it('goes through a tool call and back', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather in Oslo?' }];
    const request = { model: `${upstream}/tools`, max_tokens: 500, tools: [weather] };
    const first = await client.messages.stream({ ...request, messages }).finalMessage();
    expect(first.stop_reason).toBe('tool_use');
    const use = first.content.find((block) => block.type === 'tool_use');
    expect(use).toMatchObject({ name: 'get_weather', input: { city: expect.any(String) } });
    messages.push({ role: 'assistant', content: first.content });
    messages.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: use?.id ?? '', content: '17 degrees' }],
    });
    const second = await client.messages.create({ ...request, messages });
    expect(second.content.some((block) => block.type === 'text' && block.text.includes('17'))).toBe(true);
  });

  it('brings thinking with a signature, and takes it back', async () => {
    const request = {
      model: `${upstream}/reasoning`,
      max_tokens: 3000,
      thinking: { type: 'enabled' as const, budget_tokens: 1024 },
    };
    const first = await client.messages.stream({ ...request, messages: hello }).finalMessage();
    const thinking = first.content.find(
      (block) => block.type === 'thinking' || block.type === 'redacted_thinking',
    );
    expect(thinking).toBeDefined();
    const again = await client.messages.create({
      ...request,
      messages: [...hello, { role: 'assistant', content: first.content }, { role: 'user', content: 'Go on' }],
    });
    expect(again.stop_reason).toBe('end_turn');
  });

  it('gives structured output', async () => {
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    };
    const message = await client.messages.create({
      model,
      max_tokens: 500,
      messages: hello,
      output_config: { format: { type: 'json_schema', schema } },
    });
    const text = message.content.find((block) => block.type === 'text');
    expect(typeof JSON.parse(text?.type === 'text' ? text.text : '').ok).toBe('boolean');
  });

  it('stops at a stop sequence and at the limit', async () => {
    const short = await client.messages.create({ model, max_tokens: 2, messages: hello });
    expect(short.stop_reason).toBe('max_tokens');
  });

  it('reports a refusal of the model', async () => {
    const refused = await client.messages.create({
      model: `${upstream}/refuse`,
      max_tokens: 500,
      messages: hello,
    });
    expect(refused.stop_reason).toBe('refusal');
  });

  it('turns upstream failures into typed errors', async () => {
    const limited = await client.messages
      .create({ model: `${upstream}/fail-429`, max_tokens: 5, messages: hello })
      .catch((error) => error);
    expect(limited).toBeInstanceOf(Anthropic.RateLimitError);
    expect(limited.error).toMatchObject({ type: 'error', error: { type: 'rate_limit_error', code: 429 } });
  });

  it('throws when the upstream breaks off inside the stream', async () => {
    const stream = client.messages.stream({ model: `${upstream}/cut`, max_tokens: 500, messages: hello });
    await expect(stream.finalMessage()).rejects.toThrow();
  });

  it('stops the upstream when the caller aborts', async () => {
    const before = gateway.logged('generation').length;
    const stream = client.messages.stream({
      model: `${upstream}/slow-stream`,
      max_tokens: 500,
      messages: hello,
    });
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    stream.abort();
    await expect.poll(() => gateway.logged('generation').length).toBeGreaterThan(before);
    expect(gateway.logged('generation').at(-1)).toMatchObject({ outcome: 'aborted' });
  });
});

describe('@anthropic-ai/sdk, around generation', () => {
  it('takes the key as a bearer token too', async () => {
    const bearer = new Anthropic({
      baseURL: `${gateway.origin}/api`,
      apiKey: null,
      authToken: gateway.apiKey,
      maxRetries: 0,
    });
    const message = await bearer.messages.create({
      model: 'chat/standard',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'x' }],
    });
    expect(message.type).toBe('message');
  });

  it('counts tokens', async () => {
    const messages = [{ role: 'user' as const, content: 'one two three four five' }];
    const count = await client.messages.countTokens({ model: 'chat/standard', messages });
    expect(count.input_tokens).toBeGreaterThanOrEqual(5);
  });

  it('falls back in order', async () => {
    const message = await client.messages.create({
      model: 'chat/fail-529',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'x' }],
      fallbacks: [{ model: 'responses/refuse' }, { model: 'responses/standard' }],
    } as Anthropic.MessageCreateParamsNonStreaming);
    expect(message.model).toBe('responses/standard');
  });

  it('lets the tool runner finish without server-kept threads', async () => {
    const runner = client.beta.messages.toolRunner({
      model: 'chat/tools',
      max_tokens: 500,
      messages: [{ role: 'user', content: 'Weather in Oslo?' }],
      tools: [
        {
          type: 'custom',
          name: 'get_weather',
          input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          parse: (input: unknown) => input,
          run: async () => '17 degrees',
        } as never,
      ],
    });
    const final = await runner;
    expect(JSON.stringify(final.content)).toContain('17');
  });
});
