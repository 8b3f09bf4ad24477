import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AnswerContent } from '../../kit/fakes/answers.ts';
import type { FakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import type { TestGateway } from '../../kit/gateway-harness.ts';
import { openToolGateway, type ToolGateway, type ToolModel } from '../tools/tool-gateway.ts';

const TOKEN = 'token-of-the-caller-for-docs';
let toolGateway: ToolGateway;
let upstream: FakeUpstream;
let docs: FakeMcpServer;
let gateway: TestGateway;

beforeAll(async () => {
  docs = await openMcpServer();
  toolGateway = await openToolGateway({ egress: { allow: [`127.0.0.1:${docs.port}`] } });
  ({ gateway, upstream } = toolGateway);
});
afterAll(async () => {
  await toolGateway.close();
  await docs.close();
});
beforeEach(() => {
  upstream.clear();
  docs.messages.length = 0;
  docs.behaviour = { tools: () => ({ tools: [tool('search'), tool('delete')], ttlMs: 0 }) };
});

const CALL = { name: 'docs__search', arguments: '{"text":"hi"}', id: 'call_a' };
const TWO_LEGS: readonly AnswerContent[] = [{ tools: [CALL] }, { text: 'Found it.' }];
const QUESTION = { role: 'user', content: 'Look it up.' } as const;

const server = (more: object = {}) => ({
  type: 'url' as const,
  name: 'docs',
  url: docs.url,
  authorization_token: TOKEN,
  ...more,
});

async function ask(model: ToolModel, more: object = {}) {
  const body = { model, max_tokens: 99, messages: [QUESTION], mcp_servers: [server()], ...more };
  const response = await gateway.post('/messages', body, { 'x-signalbox-metadata': 'enabled' });
  return { status: response.status, body: (await response.json()) as any };
}

const calls = () => docs.messages.filter(({ method }) => method === 'tools/call');
const functions = () =>
  (upstream.requests[0]?.json.tools ?? []).map(({ function: named, name }: any) => named?.name ?? name);

describe('mcp_servers of the messages format', () => {
  it.each(['m/chat', 'm/responses'] as const)('work with %s, in blocks of the format', async (model) => {
    toolGateway.answers(model, ...TWO_LEGS);
    const { status, body } = await ask(model);
    expect(status, JSON.stringify(body)).toBe(200);
    const [use, result, text] = body.content;
    expect(use).toEqual({
      type: 'mcp_tool_use',
      id: expect.stringMatching(/^mcptoolu_/),
      name: 'search',
      server_name: 'docs',
      input: { text: 'hi' },
    });
    expect(result).toEqual({
      type: 'mcp_tool_result',
      tool_use_id: use.id,
      is_error: false,
      content: [{ type: 'text', text: '{"text":"hi"}' }],
    });
    expect(text).toMatchObject({ type: 'text', text: 'Found it.' });
    expect(body.stop_reason).toBe('end_turn');
    expect(calls()[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(JSON.stringify(upstream.requests)).not.toContain(TOKEN);
    expect(JSON.stringify(body.signalbox_metadata.translation ?? [])).not.toContain('mcp_servers');
  });

  it.each(['m/chat', 'm/responses'] as const)('work in the official client, with %s', async (model) => {
    toolGateway.answers(model, ...TWO_LEGS, { text: 'Yes.' });
    const client = new Anthropic({ baseURL: gateway.url.replace(/\/v1$/, ''), apiKey: gateway.apiKey });
    const wish = { model, max_tokens: 99, mcp_servers: [server()], betas: ['mcp-client-2025-04-04'] };
    const stream = client.beta.messages.stream({ ...wish, messages: [QUESTION] });
    const { content } = await stream.finalMessage();
    expect(content.map(({ type }) => type)).toEqual(['mcp_tool_use', 'mcp_tool_result', 'text']);
    expect(content[0]).toMatchObject({ name: 'search', server_name: 'docs', input: { text: 'hi' } });
    const next = await client.beta.messages.create({
      ...wish,
      messages: [QUESTION, { role: 'assistant', content }, { role: 'user', content: 'Sure?' }],
    });
    expect(next.content).toMatchObject([{ type: 'text', text: 'Yes.' }]);
    expect(JSON.stringify(upstream.requests[2]?.json)).toContain('call_a');
    expect(calls()).toHaveLength(1);
  });

  it('show a failure as an error, which the model gets too', async () => {
    docs.behaviour = {
      ...docs.behaviour,
      call: () => ({ isError: true, content: [{ type: 'text', text: 'no' }] }),
    };
    toolGateway.answers('m/chat', ...TWO_LEGS);
    const { body } = await ask('m/chat');
    expect(body.content[1]).toMatchObject({ is_error: true, content: [{ text: 'no' }] });
    expect(upstream.requests[1]?.json.messages.at(-1).content).toBe('no');
  });

  it.each(['m/chat', 'm/messages'] as const)('come back in the conversation, for %s too', async (model) => {
    toolGateway.answers('m/chat', ...TWO_LEGS);
    const { body } = await ask('m/chat');
    upstream.clear();
    toolGateway.answers(model, { text: 'Yes.' });
    const messages = [
      QUESTION,
      { role: 'assistant', content: body.content },
      { role: 'user', content: 'Sure?' },
    ];
    const { status, body: next } = await ask(model, { messages, mcp_servers: undefined });
    expect(status, JSON.stringify(next)).toBe(200);
    const sent = JSON.stringify(upstream.requests[0]?.json.messages);
    expect(sent).toContain('docs__search');
    expect(sent).not.toContain('mcp_tool');
    expect(sent).toContain('call_a');
  });

  it.each([
    [{}, ['docs__search', 'docs__delete']],
    [{ tool_configuration: { allowed_tools: ['search'] } }, ['docs__search']],
    [{ tool_configuration: { enabled: false } }, []],
  ])('offer the tools of %j', async (more, names) => {
    toolGateway.answers('m/chat', { text: 'No.' });
    await ask('m/chat', { mcp_servers: [server(more)] });
    expect(functions()).toEqual(names);
  });

  it.each([
    [{}, ['docs__search', 'docs__delete']],
    [{ configs: { delete: { enabled: false } } }, ['docs__search']],
    [{ default_config: { enabled: false }, configs: { delete: { enabled: true } } }, ['docs__delete']],
  ])('offer the tools of the toolset %j', async (more, names) => {
    toolGateway.answers('m/chat', { text: 'No.' });
    const tools = [{ type: 'mcp_toolset', mcp_server_name: 'docs', ...more }];
    const { body } = await ask('m/chat', { tools });
    expect(body.content[0].text, JSON.stringify(body)).toBe('No.');
    expect(functions()).toEqual(names);
  });

  it('are left to an upstream of the same format', async () => {
    toolGateway.answers('m/messages', { text: 'By itself.' });
    const { status } = await ask('m/messages');
    expect(status).toBe(200);
    expect(upstream.requests[0]?.json.mcp_servers).toEqual([server()]);
    expect(docs.messages).toEqual([]);
  });

  it('are called by the gateway if it runs other tools for the same upstream', async () => {
    toolGateway.answers('m/messages', ...TWO_LEGS);
    const { body } = await ask('m/messages', { tools: [{ type: 'signalbox:datetime' }] });
    expect(body.content.map(({ type }: any) => type)).toEqual(['mcp_tool_use', 'mcp_tool_result', 'text']);
    expect(upstream.requests[0]?.json.mcp_servers).toBeUndefined();
    expect(calls()).toHaveLength(1);
  });

  it.each([
    [[{ type: 'url', name: 'x', url: 'ftp://a' }], 'mcp_servers[0].url'],
    [[{ type: 'url', name: 'unknown' }], 'mcp_servers[0].name'],
  ])('are refused as %j', async (mcp_servers, path) => {
    const { status, body } = await ask('m/chat', { mcp_servers });
    expect(status).toBe(400);
    expect(body.error.message).toContain(path);
  });
});

describe('a tool of the type mcp', () => {
  const asMcp = () => ({
    type: 'mcp',
    server_label: 'docs',
    server_url: docs.url,
    require_approval: 'never',
  });
  const choice = { type: 'mcp', server_label: 'docs', name: 'search' };

  it.each(['m/chat', 'm/responses', 'm/messages'] as const)('can be chosen, with %s', async (model) => {
    toolGateway.answers(model, ...TWO_LEGS);
    const { status, body } = await ask(model, {
      mcp_servers: undefined,
      tools: [asMcp()],
      tool_choice: { ...choice, disable_parallel_tool_use: true },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const { tool_choice: sent } = upstream.requests[0]?.json ?? {};
    expect((sent.function ?? sent).name).toBe('docs__search');
    expect(calls()).toHaveLength(1);
    // Neither the tool nor the choice is said to be dropped.
    expect(JSON.stringify(body.signalbox_metadata.translation ?? [])).not.toMatch(/tools\[0\]|tool_choice"/);
  });

  it.each(['m/chat', 'm/responses', 'm/messages'] as const)(
    'cannot be chosen where the request does not have it, with %s',
    async (model) => {
      const f = { name: 'f', input_schema: { type: 'object' } };
      for (const tools of [undefined, [], [f], [{ ...asMcp(), server_label: 'others' }]]) {
        const { status, body } = await ask(model, { mcp_servers: undefined, tools, tool_choice: choice });
        expect([status, body.error.metadata.issues[0].path]).toEqual([422, 'tool_choice']);
      }
      expect(upstream.requests).toEqual([]);
    },
  );
});
