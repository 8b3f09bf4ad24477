import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bedrockDouble } from '../../kit/fakes/agents/bedrock-double.ts';
import { doubleAnswer } from '../../kit/fakes/agents/double-answer.ts';
import { geminiDouble } from '../../kit/fakes/agents/gemini-double.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** Entries of the translation report beside the body that went upstream, where the dialect is not the caller's. */

const DOUBLES = { gemini: geminiDouble, bedrock: bedrockDouble };

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: Object.entries(DOUBLES).map(([name, { dialect }]) => ({
      slug: `p-${name}`,
      dialect,
      base_url: upstream.url,
      api_key: 'k',
    })),
    models: Object.entries(DOUBLES).map(([name, { model }]) => ({
      id: `up/${name}`,
      input_modalities: ['text', 'audio'],
      endpoints: [{ provider: `p-${name}`, model }],
    })),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

/** What went upstream of a request in the responses format, and `field action` of each entry. */
async function send(name: keyof typeof DOUBLES, body: object) {
  upstream.answer(doubleAnswer(DOUBLES[name], { says: 'ok' }));
  const response = await gateway.post(
    '/responses',
    { model: `up/${name}`, ...body },
    { 'X-Signalbox-Metadata': 'enabled' },
  );
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const entries = JSON.parse(text).signalbox_metadata.translation as { field: string; action: string }[];
  return {
    sent: upstream.requests[0]?.json as any,
    entries: (entries ?? []).map(({ field, action }) => `${field} ${action}`),
  };
}

const functionCalled = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } });
const SHELLS = [{ type: 'shell', environment: { type: 'local' } }, { type: 'local_shell' }];

describe('allowed tools that the caller runs', () => {
  const body = {
    input: 'go',
    tools: [...SHELLS, functionCalled('f')],
    tool_choice: {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'f' }, { type: 'shell' }],
    },
  };

  it('may be called at Gemini upstreams, among all tools', async () => {
    const { sent, entries } = await send('gemini', body);
    expect(geminiDouble.toolsOf(sent).map(({ name }) => name)).toEqual(['shell', 'local_shell', 'f']);
    expect(sent.toolConfig.functionCallingConfig).toEqual({
      mode: 'ANY',
      allowedFunctionNames: ['f', 'shell'],
    });
    expect(entries).toEqual(['tools[0] coerced', 'tools[1] coerced']);
  });

  it('are sent alone to Bedrock upstreams, and no other is said to have become something', async () => {
    const { sent, entries } = await send('bedrock', body);
    expect(bedrockDouble.toolsOf(sent).map(({ name }) => name)).toEqual(['shell', 'f']);
    expect(entries).toEqual(['tools[0] coerced', 'tool_choice coerced']);
  });

  it('are not confused with a function of the same name', async () => {
    const tools = [functionCalled('shell'), ...SHELLS];
    const choice = { ...body.tool_choice, tools: [{ type: 'function', name: 'shell' }] };
    const { sent } = await send('gemini', { ...body, tools, tool_choice: choice });
    expect(sent.toolConfig.functionCallingConfig.allowedFunctionNames).toEqual(['shell']);
  });
});

it.each(['gemini', 'bedrock'] as const)(
  'tools added in the conversation start earlier at %s',
  async (name) => {
    const added = { type: 'additional_tools', role: 'developer', tools: [functionCalled('k')] };
    const { sent, entries } = await send(name, { input: [{ role: 'user', content: 'go' }, added] });
    expect(DOUBLES[name].toolsOf(sent).map((tool) => tool.name)).toEqual(['k']);
    expect(entries).toEqual(['input[1] coerced']);
  },
);

describe('a format of audio that no document lists', () => {
  const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'flac' } };
  const body = { input: [{ role: 'user', content: [audio] }] };
  const field = 'input[0].content[0].input_audio.format';

  it('becomes a media type at Gemini upstreams', async () => {
    const { sent, entries } = await send('gemini', body);
    expect(sent.contents[0].parts).toEqual([{ inlineData: { mimeType: 'audio/flac', data: 'AAAA' } }]);
    expect(entries).toEqual([`${field} coerced`]);
  });

  it('is passed on to Bedrock upstreams', async () => {
    const { sent, entries } = await send('bedrock', body);
    expect(sent.messages[0].content).toEqual([{ audio: { format: 'flac', source: { bytes: 'AAAA' } } }]);
    expect(entries).toEqual([`${field} passed_on`]);
  });
});

it.each(['gemini', 'bedrock'] as const)(
  'patches become a function at %s upstreams, and is said',
  async (name) => {
    const { sent, entries } = await send(name, { input: 'go', tools: [{ type: 'apply_patch' }] });
    expect(DOUBLES[name].toolsOf(sent).map((tool) => tool.name)).toEqual(['apply_patch']);
    expect(entries).toEqual(['tools[0] coerced']);
  },
);

it.each(['gemini', 'bedrock'] as const)(
  'calls of MCP tools become calls at %s upstreams, and is said',
  async (name) => {
    const call = { type: 'mcp_call', id: 'mcp_1', server_label: 'docs', name: 'search', arguments: '{}' };
    const user = { role: 'user', content: 'Look it up.' };
    const input = [user, { ...call, output: 'Found it.' }, { role: 'user', content: 'Sure?' }];
    const { sent, entries } = await send(name, { input });
    expect(JSON.stringify(sent)).toMatch(/docs__search.*Found it/);
    expect(entries[0]).toBe('input[1] coerced');
  },
);
