import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** Blocks of tools that Anthropic ran, in conversations that go on at upstreams of other dialects. */

const OK = { text: 'ok' };

const UPSTREAMS = {
  chat: { dialect: 'openai-chat', answer: chatAnswer(OK) },
  responses: { dialect: 'openai-responses', answer: responsesAnswer(OK) },
  gemini: {
    dialect: 'google-gemini',
    answer: reply(200, {
      candidates: [{ content: { role: 'model', parts: [OK] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11 },
    }),
  },
  bedrock: {
    dialect: 'aws-bedrock',
    answer: reply(200, {
      output: { message: { role: 'assistant', content: [OK] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11 },
    }),
  },
  messages: { dialect: 'anthropic-messages', answer: messagesAnswer(OK) },
};
type Name = keyof typeof UPSTREAMS;

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: Object.entries(UPSTREAMS).map(([slug, { dialect }]) => ({
      slug,
      dialect,
      base_url: upstream.url,
      api_key: 'k',
    })),
    models: Object.keys(UPSTREAMS).map((provider) => ({
      id: `up/${provider}`,
      endpoints: [{ provider, model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } }],
    })),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** What goes upstream of a conversation with these blocks, and the report. */
async function ask(name: Name, blocks: readonly object[]) {
  upstream.clear();
  upstream.answer(UPSTREAMS[name].answer);
  const messages = [
    { role: 'user', content: 'What did it say?' },
    { role: 'assistant', content: [...blocks, { type: 'text', text: 'It is there.' }] },
    { role: 'user', content: 'Sure?' },
  ];
  const body = { model: `up/${name}`, max_tokens: 100, messages };
  const response = await gateway.post('/messages', body, { 'X-Signalbox-Metadata': 'enabled' });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const report: { field: string; action: string }[] = JSON.parse(text).signalbox_metadata.translation ?? [];
  return {
    text: upstream.requests[0]?.body ?? '',
    messages: upstream.requests[0]?.json.messages,
    report: report.map(({ field, action }) => `${field} ${action}`).filter((entry) => !/^tools /.test(entry)),
  };
}

const used = (name: string, input: object) => ({ type: 'server_tool_use', id: 'srvtoolu_1', name, input });
const result = (type: string, content: object) => ({ type, tool_use_id: 'srvtoolu_1', content });

/** Blocks of a past turn, and what of them a model has to read. */
const BLOCKS: Readonly<Record<string, { readonly blocks: object[]; readonly reads: readonly string[] }>> = {
  search: {
    blocks: [
      used('web_search', { query: 'tides' }),
      result('web_search_tool_result', [
        {
          type: 'web_search_result',
          url: 'https://a.example/t',
          title: 'Tides',
          encrypted_content: 'SEALED',
          page_age: null,
        },
      ]),
    ],
    reads: ['web_search', 'tides', 'https://a.example/t', 'Tides', 'no longer known'],
  },
  'search that failed': {
    blocks: [
      used('web_search', { query: 'tides' }),
      result('web_search_tool_result', {
        type: 'web_search_tool_result_error',
        error_code: 'max_uses_exceeded',
      }),
    ],
    reads: ['tides', 'max_uses_exceeded'],
  },
  page: {
    blocks: [
      used('web_fetch', { url: 'https://a.example/t' }),
      result('web_fetch_tool_result', {
        type: 'web_fetch_result',
        url: 'https://a.example/t',
        content: {
          type: 'document',
          title: 'Tides',
          source: { type: 'text', media_type: 'text/plain', data: 'High at noon.' },
        },
      }),
    ],
    reads: ['web_fetch', 'https://a.example/t', 'Tides', 'High at noon.'],
  },
  'page that is a file': {
    blocks: [
      used('web_fetch', { url: 'https://a.example/t.pdf' }),
      result('web_fetch_tool_result', {
        type: 'web_fetch_result',
        url: 'https://a.example/t.pdf',
        content: {
          type: 'document',
          title: 'Tides',
          source: { type: 'base64', media_type: 'application/pdf', data: 'SEALED' },
        },
      }),
    ],
    reads: ['https://a.example/t.pdf', 'Tides', 'no longer known'],
  },
  program: {
    blocks: [
      used('code_execution', { code: 'look()' }),
      result('code_execution_tool_result', {
        type: 'code_execution_result',
        stdout: 'heron',
        stderr: 'slow',
        return_code: 0,
        content: [],
      }),
    ],
    reads: ['code_execution', 'look()', 'heron', 'slow'],
  },
  'program with encrypted output': {
    blocks: [
      used('code_execution', { code: 'look()' }),
      result('code_execution_tool_result', {
        type: 'encrypted_code_execution_result',
        encrypted_stdout: 'SEALED',
        stderr: 'slow',
        return_code: 0,
        content: [],
      }),
    ],
    reads: ['look()', 'slow', 'no longer known'],
  },
  command: {
    blocks: [
      used('bash_code_execution', { command: 'ls' }),
      result('bash_code_execution_tool_result', {
        type: 'bash_code_execution_result',
        stdout: 'heron.txt',
        stderr: '',
        return_code: 0,
        content: [],
      }),
    ],
    reads: ['bash_code_execution', 'ls', 'heron.txt'],
  },
  'work on a file': {
    blocks: [
      used('text_editor_code_execution', { command: 'view', path: 'birds' }),
      result('text_editor_code_execution_tool_result', {
        type: 'text_editor_code_execution_view_result',
        file_type: 'text',
        content: 'heron',
      }),
    ],
    reads: ['text_editor_code_execution', 'birds', 'heron'],
  },
  'search of tools': {
    blocks: [
      used('tool_search_tool_regex', { query: 'bird' }),
      result('tool_search_tool_result', {
        type: 'tool_search_tool_search_result',
        tool_references: [{ type: 'tool_reference', tool_name: 'birdwatch' }],
      }),
    ],
    reads: ['tool_search_tool_regex', 'birdwatch'],
  },
  advice: {
    blocks: [
      used('advisor', {}),
      result('advisor_tool_result', { type: 'advisor_result', text: 'Wait for noon.' }),
    ],
    reads: ['advisor', 'Wait for noon.'],
  },
  'advice that is encrypted': {
    blocks: [
      used('advisor', {}),
      result('advisor_tool_result', { type: 'advisor_redacted_result', encrypted_content: 'SEALED' }),
    ],
    reads: ['advisor', 'no longer known'],
  },
  'call of an MCP server': {
    blocks: [
      {
        type: 'mcp_tool_use',
        id: 'srvtoolu_1',
        name: 'look',
        server_name: 'docs',
        input: { id: 7 },
      },
      {
        type: 'mcp_tool_result',
        tool_use_id: 'srvtoolu_1',
        is_error: true,
        content: [{ type: 'text', text: 'heron' }],
      },
    ],
    reads: ['docs__look', 'heron'],
  },
  'tools of an MCP server': {
    blocks: [
      {
        type: 'mcp_tool_listing',
        mcp_server_name: 'docs',
        tools: [{ name: 'look', description: 'Finds birds', input_schema: {} }],
      },
    ],
    reads: ['docs', 'look', 'Finds birds'],
  },
  summary: { blocks: [{ type: 'compaction', content: 'We spoke of tides.' }], reads: ['We spoke of tides.'] },
};

const CASES = Object.keys(BLOCKS).flatMap((kind) =>
  (['chat', 'responses', 'gemini', 'bedrock'] as const).map((name) => ({ kind, name })),
);

describe('a block of a tool that Anthropic ran', () => {
  it.each(CASES)(
    'is read by models of another dialect: $kind at a $name upstream',
    async ({ kind, name }) => {
      const { blocks = [], reads = [] } = BLOCKS[kind] ?? {};
      const { text, report } = await ask(name, blocks);
      for (const each of reads) expect(text).toContain(each);
      expect(text).not.toContain('SEALED');
      expect(text).not.toContain('No result was recorded.');
      expect(report).toEqual(
        expect.arrayContaining(blocks.map((_, at) => `messages[1].content[${at}] coerced`)),
      );
      expect(report.filter((entry) => !entry.endsWith('coerced'))).toEqual([]);
    },
  );

  it.each(Object.keys(BLOCKS))('goes back to its own dialect as it came: %s', async (kind) => {
    const { blocks = [] } = BLOCKS[kind] ?? {};
    const { messages, report } = await ask('messages', blocks);
    expect(messages[1].content.slice(0, -1)).toEqual(blocks);
    expect(report).toEqual([]);
  });

  it('is dropped if a model could read nothing of it, which the report says', async () => {
    const blocks = [
      { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } },
      { type: 'compaction', content: null, encrypted_content: 'SEALED' },
    ];
    const { text, report } = await ask('chat', blocks);
    expect(text).not.toContain('SEALED');
    expect(report).toEqual(['messages[1].content[0] dropped', 'messages[1].content[1] dropped']);
  });

  it('keeps the digits of long numbers', async () => {
    upstream.clear();
    upstream.answer(UPSTREAMS.chat.answer);
    const call =
      '{"type":"server_tool_use","id":"srvtoolu_1","name":"look","input":{"id":12345678901234567891}}';
    const body = `{"model":"up/chat","max_tokens":100,"messages":[
      {"role":"user","content":"Look."},{"role":"assistant","content":[${call}]},{"role":"user","content":"And?"}]}`;
    const headers = { 'content-type': 'application/json' };
    expect((await gateway.fetch('/messages', { method: 'POST', headers, body })).status).toBe(200);
    expect(upstream.requests[0]?.json.messages[1].tool_calls[0].function.arguments).toBe(
      '{"id":12345678901234567891}',
    );
  });
});
