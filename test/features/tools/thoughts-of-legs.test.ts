import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** Reasoning without a seal, in the next leg of a loop. */

const SLUGS = ['deepseek', 'fireworks', 'novita', 'ollama', 'plain'] as const;

let gateway: TestGateway;
let upstream: FakeUpstream;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: SLUGS.map((slug) => ({
      slug,
      dialect: 'openai-chat',
      base_url: `${upstream.url}/${slug}`,
      api_key: 'k',
    })),
    models: SLUGS.map((slug) => ({ id: `m/${slug}`, endpoints: [{ provider: slug, model: 'one' }] })),
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

it.each([
  ['deepseek', { reasoning_content: 'I look at the clock.' }],
  ['fireworks', { reasoning_content: 'I look at the clock.' }],
  ['novita', { reasoning_content: 'I look at the clock.' }],
  ['ollama', { reasoning: 'I look at the clock.' }],
  ['plain', {}],
])('of %s goes back as %j', async (slug, thoughts) => {
  const tools = [{ name: 'datetime', arguments: '{}', id: 'call_a' }];
  upstream.answer(chatAnswer({ reasoning: 'I look at the clock.', tools }));
  upstream.answer(chatAnswer({ text: 'Noon.' }));
  const response = await gateway.post('/responses', {
    model: `m/${slug}`,
    input: 'Time?',
    tools: [{ type: 'signalbox:datetime' }],
  });
  expect(response.status, await response.text()).toBe(200);
  const said = upstream.requests[1]?.json.messages[1];
  const { reasoning_content, reasoning } = said;
  expect(said.tool_calls).toHaveLength(1);
  expect(JSON.parse(JSON.stringify({ reasoning_content, reasoning }))).toEqual(thoughts);
});
