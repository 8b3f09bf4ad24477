import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type ModelMessage, streamText, type ToolSet } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeMcpServer, openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import { openToolGateway, type ToolGateway, type ToolModel } from '../tools/tool-gateway.ts';

/** MCP servers that the AI SDK names in `/responses`, whose calls a person approves or not. */

let tools: ToolGateway;
let docs: FakeMcpServer;

beforeAll(async () => {
  docs = await openMcpServer();
  tools = await openToolGateway({ egress: { allow: [`127.0.0.1:${docs.port}`] } });
});
afterAll(async () => {
  await tools.close();
  await docs.close();
});
beforeEach(() => {
  tools.upstream.clear();
  docs.messages.length = 0;
  docs.behaviour = { tools: () => ({ tools: [tool('search')], ttlMs: 0 }) };
});

const CALL = { name: 'docs__search', arguments: '{"text":"hi"}', id: 'call_a' };
const QUESTION: ModelMessage = { role: 'user', content: 'Look it up.' };
const MODES = ['generateText', 'streamText'] as const;

/** The SDK sends items, or by default references to those that it was given. */
const HISTORIES = { references: {}, items: { store: false } } as const;
type History = keyof typeof HISTORIES;

const CASES: readonly Wish[] = (['m/chat', 'm/messages'] as const).flatMap((model) =>
  MODES.flatMap((mode) => (['references', 'items'] as const).map((history) => ({ model, mode, history }))),
);

interface Wish {
  readonly model: ToolModel;
  readonly mode: (typeof MODES)[number];
  readonly history: History;
}

async function ask(
  { model, mode, history }: Wish,
  requireApproval: 'always' | 'never',
  messages: ModelMessage[],
) {
  const { gateway } = tools;
  const provider = createOpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey });
  const settings = {
    model: provider(model),
    messages,
    tools: {
      mcp: provider.tools.mcp({ serverLabel: 'docs', serverUrl: docs.url, requireApproval }),
    } as ToolSet,
    providerOptions: { openai: HISTORIES[history] },
    maxRetries: 0,
  };
  if (mode === 'generateText') {
    const { text, content, response } = await generateText(settings);
    return { text, content: content as readonly any[], added: response.messages };
  }
  const errors: unknown[] = [];
  const result = streamText({ ...settings, onError: ({ error }) => void errors.push(error) });
  await result.consumeStream();
  expect(errors).toEqual([]);
  return {
    text: await result.text,
    content: (await result.content) as readonly any[],
    added: (await result.response).messages,
  };
}

const calls = () => docs.messages.filter(({ method }) => method === 'tools/call');

/** Of the parts of a type, their own names of tools. */
const namesOf = (content: readonly any[], type: string) =>
  content.filter((part) => part.type === type).map(({ toolName }) => toolName);

describe('MCP in the AI SDK', () => {
  it.each(CASES)('$mode reads calls and answers without a call: $model, $history', async (wish) => {
    tools.answers(wish.model, { tools: [CALL] }, { text: 'Found it.' }, { text: 'Yes.' });
    const first = await ask(wish, 'never', [QUESTION]);
    expect(first.text).toBe('Found it.');
    expect(namesOf(first.content, 'tool-result')).toEqual(['mcp.search']);
    expect(calls()).toHaveLength(1);
    const next = await ask(wish, 'never', [QUESTION, ...first.added, { role: 'user', content: 'Sure?' }]);
    expect(next.text).toBe('Yes.');
    expect(calls()).toHaveLength(1);
  });

  it.each(CASES.flatMap((wish) => [true, false].map((approved) => ({ ...wish, approved }))))(
    '$mode brings an approval of $approved: $model, $history',
    async ({ approved, ...wish }) => {
      tools.answers(wish.model, { tools: [CALL] }, { text: 'Done.' });
      const first = await ask(wish, 'always', [QUESTION]);
      const request = first.content.find(({ type }) => type === 'tool-approval-request');
      expect(request?.toolCall).toMatchObject({ toolName: 'mcp.search', providerExecuted: true });
      expect(calls()).toEqual([]);
      const decision: ModelMessage = {
        role: 'tool',
        content: [
          {
            type: 'tool-approval-response',
            approvalId: request.approvalId,
            approved,
            providerExecuted: true,
          },
        ],
      };
      const next = await ask(wish, 'always', [QUESTION, ...first.added, decision]);
      expect(next.text).toBe('Done.');
      expect(calls()).toHaveLength(approved ? 1 : 0);
    },
  );
});
