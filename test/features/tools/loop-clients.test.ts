import Anthropic from '@anthropic-ai/sdk';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatFrames, sse } from '../../kit/fakes/answers.ts';
import { head, never, SSE, write } from '../../kit/fakes/fake-upstream.ts';
import { openToolGateway, type ToolGateway } from './tool-gateway.ts';

let tools: ToolGateway;

beforeAll(async () => {
  tools = await openToolGateway();
});
beforeEach(() => tools.upstream.clear());
afterAll(() => tools.close());

const DATETIME = { type: 'signalbox:datetime' };
const CALL = { name: 'datetime', arguments: '{}', id: 'call_a' };
const USAGE = { input: 10, output: 5 };

describe('helpers of the official SDKs', () => {
  it('read two legs as one response', async () => {
    tools.answers('m/chat', { text: 'Look.', tools: [CALL] }, { text: 'Noon.' });
    const { gateway } = tools;
    const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey, maxRetries: 0 });
    const stream = client.responses.stream({ model: 'm/chat', input: 'Time?', tools: [DATETIME] } as never);
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    const response = await stream.finalResponse();
    expect(response.output.map(({ type }) => type)).toEqual(['message', 'signalbox:datetime', 'message']);
    expect(response.output_text).toBe('Look.Noon.');
    expect(types.filter((type) => type === 'response.completed')).toHaveLength(1);
  });

  it('read two legs as one message', async () => {
    tools.answers(
      'm/messages',
      {
        text: 'Look.',
        tools: [{ name: 'web_fetch', arguments: '{"url":"http://10.0.0.1/"}', id: 'toolu_1' }],
      },
      { text: 'Nothing there.' },
    );
    const { gateway } = tools;
    const client = new Anthropic({ baseURL: `${gateway.origin}/api`, apiKey: gateway.apiKey, maxRetries: 0 });
    const message = await client.messages
      .stream({
        model: 'm/messages',
        max_tokens: 99,
        messages: [{ role: 'user', content: 'Read' }],
        tools: [{ type: 'signalbox:web_fetch' }] as never,
      })
      .finalMessage();
    expect(message.content.map(({ type }) => type)).toEqual([
      'text',
      'server_tool_use',
      'web_fetch_tool_result',
      'text',
    ]);
    expect(message.content[1]).toMatchObject({ input: { url: 'http://10.0.0.1/' } });
    expect(message.stop_reason).toBe('end_turn');
  });
});

describe('the memory tool', () => {
  const VIEW = { command: 'view', path: '/memories' };
  const unused = () => {
    throw new Error('the model does not ask for this');
  };

  it.each(['m/chat', 'm/responses', 'm/messages'] as const)('runs in the caller, with %s', async (model) => {
    const call = { name: 'memory', arguments: JSON.stringify(VIEW), id: 'call_m' };
    tools.answers(model, { tools: [call] }, { text: 'A note.' });
    const { gateway } = tools;
    const client = new Anthropic({ baseURL: `${gateway.origin}/api`, apiKey: gateway.apiKey, maxRetries: 0 });
    const viewed: unknown[] = [];
    const memory = betaMemoryTool({
      view: (command) => {
        viewed.push(command);
        return 'notes.md';
      },
      create: unused,
      str_replace: unused,
      insert: unused,
      delete: unused,
      rename: unused,
    });
    const message = await client.beta.messages.toolRunner({
      model,
      max_tokens: 99,
      messages: [{ role: 'user', content: 'What do you remember?' }],
      tools: [memory],
    });
    expect(viewed).toEqual([VIEW]);
    expect(message.content).toMatchObject([{ type: 'text', text: 'A note.' }]);
    expect(tools.upstream.requests).toHaveLength(2);
    expect(tools.upstream.requests[1]?.body).toContain('notes.md');
  });
});

describe('reasoning', () => {
  it('goes from leg to leg with its seal on messages upstreams', async () => {
    tools.answers('m/messages', { reasoning: 'Hm.', tools: [{ ...CALL, id: 'toolu_1' }] }, { text: 'Noon.' });
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    await tools.ask('/messages', 'm/messages', { max_tokens: 2000, thinking, tools: [DATETIME] });
    const turn = tools.upstream.requests[1]?.json.messages[1];
    expect(turn).toMatchObject({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sealed-by-fake' },
        { type: 'tool_use', id: 'toolu_1' },
      ],
    });
  });

  it('goes from leg to leg with its seal on responses upstreams', async () => {
    tools.answers('m/responses', { reasoning: 'Hm.', tools: [CALL] }, { text: 'Noon.' });
    await tools.ask('/responses', 'm/responses', { reasoning: { effort: 'low' }, tools: [DATETIME] });
    const [first, second] = tools.upstream.requests.map(({ json }) => json);
    expect(first.include).toContain('reasoning.encrypted_content');
    const sealed = second.input.find(({ type }: any) => type === 'reasoning');
    expect(sealed.encrypted_content).toMatch(/./);
    expect(second.input.map(({ type }: any) => type ?? 'message').slice(-3)).toEqual([
      'reasoning',
      'function_call',
      'function_call_output',
    ]);
  });
});

describe('a caller who leaves in the third leg', () => {
  it('is charged for two legs and the part of the third, once', async () => {
    tools.answers('m/chat', { tools: [CALL], usage: USAGE }, { tools: [CALL], usage: USAGE });
    const begun = sse(chatFrames({ text: 'It is a long story' }).slice(0, 3));
    tools.upstream.answer([head(200, SSE), write(begun), never()]);
    const leaving = new AbortController();
    const response = await tools.gateway.fetch('/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm/chat', input: 'Time?', tools: [DATETIME], stream: true }),
      signal: leaving.signal,
    });
    const id = response.headers.get('x-generation-id');
    const reader = response.body?.getReader();
    for (let text = ''; !text.includes('long'); ) {
      text += new TextDecoder().decode((await reader?.read())?.value);
      if (text.includes('output_text.delta')) break;
    }
    leaving.abort();
    const find = async () => {
      const reply = await tools.gateway.fetch(`/generation?id=${id}`);
      return reply.status === 200 ? ((await reply.json()) as any).data : undefined;
    };
    await expect.poll(find).toBeDefined();
    const record = await find();
    expect(record.cancelled).toBe(true);
    expect(record.legs.map(({ status }: any) => status)).toEqual(['completed', 'completed', 'cancelled']);
    expect(record.tool_calls.map(({ leg, outcome }: any) => [leg, outcome])).toEqual([
      [1, 'ok'],
      [2, 'ok'],
    ]);
    const costs = record.legs.map(({ cost }: any) => cost);
    expect(costs.slice(0, 2)).toEqual([0.00002, 0.00002]);
    expect(record.total_cost).toBeCloseTo(
      costs.reduce((sum: number, cost: number) => sum + cost, 0),
      9,
    );
  });
});
