import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** Blocks of /messages and parts of /chat/completions whose types the gateway does not know. */

const DIALECTS = { chat: 'openai-chat', messages: 'anthropic-messages', responses: 'openai-responses' };
const ANSWERS = { chat: chatAnswer, messages: messagesAnswer, responses: responsesAnswer };
type Name = keyof typeof DIALECTS;
const NAMES = Object.keys(DIALECTS) as Name[];

let upstreams: Record<Name, FakeUpstream>;
let gateway: TestGateway;

beforeAll(async () => {
  const opened = await Promise.all(NAMES.map(async (name) => [name, await openFakeUpstream()] as const));
  upstreams = Object.fromEntries(opened) as Record<Name, FakeUpstream>;
  const endpoint = (name: Name, price: string) => ({
    provider: `p-${name}`,
    model: 'm',
    pricing: { prompt: price, completion: price },
  });
  gateway = await openTestGateway({
    providers: NAMES.map((name) => ({
      slug: `p-${name}`,
      dialect: DIALECTS[name],
      base_url: upstreams[name].url,
      api_key: 'k',
    })),
    models: [
      ...NAMES.map((name) => ({ id: `up/${name}`, endpoints: [endpoint(name, '0.000001')] })),
      { id: 'up/mixed', endpoints: [endpoint('responses', '0.000001'), endpoint('messages', '0.001')] },
    ],
  });
});
afterAll(async () => {
  await gateway.close();
  for (const upstream of Object.values(upstreams)) await upstream.close();
});
beforeEach(() => {
  for (const upstream of Object.values(upstreams)) upstream.clear();
});

const SPEAKING = { type: 'hologram', content: [{ type: 'text', text: 'a blue heron' }] };
const SILENT = { type: 'aura', colour: 'teal' };
const PATHS: Record<'messages' | 'chat', string> = { messages: '/messages', chat: '/chat/completions' };

async function ask(format: keyof typeof PATHS, model: string, provider: object = {}) {
  const content = [{ type: 'text', text: 'What is this?' }, SPEAKING, SILENT];
  const response = await gateway.post(
    PATHS[format],
    { model, max_tokens: 50, messages: [{ role: 'user', content }], provider },
    { 'X-Signalbox-Metadata': 'enabled' },
  );
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const entries = JSON.parse(text).signalbox_metadata.translation ?? [];
  return entries.map(({ field, action }: any) => `${field} ${action}`) as string[];
}

describe.each(['messages', 'chat'] as const)('unknown types of content in the %s format', (format) => {
  it.each(NAMES)('before an upstream of the dialect %s', async (name) => {
    upstreams[name].answer(ANSWERS[name]({ text: 'ok' }));
    const entries = await ask(format, `up/${name}`);
    const sent = JSON.stringify(upstreams[name].requests[0]?.json);
    expect(sent).toContain('a blue heron');
    const isOwn = name === format;
    expect(sent.includes('hologram')).toBe(isOwn);
    expect(sent.includes('teal')).toBe(isOwn);
    const expected = ['messages[0].content[1] coerced', 'messages[0].content[2] dropped'];
    expect(entries.filter((entry) => expected.includes(entry))).toEqual(isOwn ? [] : expected);
  });
});

describe('a model with endpoints of several dialects', () => {
  it('is asked where the types may be known, and then elsewhere', async () => {
    upstreams.messages.answer(messagesAnswer({ text: 'ok' }));
    await ask('messages', 'up/mixed');
    expect(upstreams.responses.requests).toEqual([]);
    upstreams.messages.clear();
    upstreams.messages.answer(reply(500, { type: 'error', error: { type: 'api_error', message: 'no' } }));
    upstreams.responses.answer(responsesAnswer({ text: 'ok' }));
    expect(await ask('messages', 'up/mixed')).toContain('messages[0].content[2] dropped');
    expect(upstreams.responses.requests).toHaveLength(1);
  });
});
