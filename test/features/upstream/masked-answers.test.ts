import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

const KEY = 'sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2';
/** As self-hosted upstreams have them. */
const SHORT_KEY = 'local-secret-17ab';
const OWN_KEY = 'sk-own-Z9y8X7w6V5u4T3s2R1q0P9o8';

/** By the beginning of the slugs of the providers that have them. */
const KEYS = { p: KEY, short: SHORT_KEY };

const UPSTREAMS = [
  { upstreamFormat: 'chat', dialect: 'openai-chat', answer: chatAnswer },
  { upstreamFormat: 'responses', dialect: 'openai-responses', answer: responsesAnswer },
  { upstreamFormat: 'messages', dialect: 'anthropic-messages', answer: messagesAnswer },
] as const;

const CALLERS = [
  { format: 'chat', path: '/chat/completions', said: { messages: [{ role: 'user', content: 'hi' }] } },
  {
    format: 'messages',
    path: '/messages',
    said: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 50 },
  },
  { format: 'responses', path: '/responses', said: { input: 'hi' } },
] as const;

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: UPSTREAMS.flatMap(({ upstreamFormat, dialect }) =>
      Object.entries(KEYS).map(([prefix, api_key]) => ({
        slug: `${prefix}-${upstreamFormat}`,
        dialect,
        base_url: upstream.url,
        api_key,
        headers: { 'X-Title': 'The title of it' },
      })),
    ),
    models: UPSTREAMS.flatMap(({ upstreamFormat }) =>
      Object.keys(KEYS).map((prefix) => ({
        id: `${prefix === 'p' ? 'up' : prefix}/${upstreamFormat}`,
        max_output_tokens: 8000,
        endpoints: [
          {
            provider: `${prefix}-${upstreamFormat}`,
            model: 'm',
            pricing: { prompt: '0.000001', completion: '0.000002' },
          },
        ],
      })),
    ),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const LANES = CALLERS.flatMap((caller) => UPSTREAMS.map((served) => ({ ...caller, ...served })));

describe.each(LANES)('an answer of $upstreamFormat to $format', (lane) => {
  it.each([false, true])('does not show the key of the provider; streamed: %s', async (stream) => {
    // The answer comes in three deltas: the key is whole in the first, and cut in the second.
    const text = `Your key ${KEY}. The title of it. ${'x'.repeat(38)} ${KEY} and so on ${'y'.repeat(30)}`;
    upstream.answer(lane.answer({ text, tools: [{ name: 'f', arguments: JSON.stringify({ key: KEY }) }] }));
    const response = await gateway.post(lane.path, {
      model: `up/${lane.upstreamFormat}`,
      ...lane.said,
      stream,
    });
    const shown = await response.text();
    expect(response.status).toBe(200);
    expect(shown).toContain('[redacted]');
    expect(shown).toContain('and so on');
    expect(shown).toContain('The title of it');
    expect(shown).not.toContain(KEY.slice(0, 4));
    expect(shown).not.toContain(KEY.slice(20));
  });

  it.each([1, 4, 16])('does not show a key that comes in deltas of %d characters', async (deltaLength) => {
    const text = `Your key is Bearer ${KEY}, like sk-proj-a1B2. It ends: sk-proj-`;
    const tools = [{ name: 'f', arguments: JSON.stringify({ key: KEY }) }];
    upstream.answer(lane.answer({ text, tools, deltaLength }));
    const model = `up/${lane.upstreamFormat}`;
    const response = await gateway.post(lane.path, { model, ...lane.said, stream: true });
    const deltas = deltasIn(await response.text());
    expect(deltas).toMatch(
      /^Your key is Bearer (?:sk?-?)?\[redacted\], like sk-proj-a1B2. It ends: sk-proj-\{/,
    );
    expect(deltas).toMatch(/"key":"(?:sk?-?)?\[redacted\]"\}$/);
  });
});

describe.each(LANES)('an answer of $upstreamFormat to $format at an upstream with a short key', (lane) => {
  it.each([1, 4, 9, 99])('hides it in all events alike, in deltas of %d characters', async (deltaLength) => {
    // Ordinary text may begin like the key.
    const text = `A local secret: ${SHORT_KEY}, and local-secret-17 again, local-sec`;
    upstream.answer(lane.answer({ text, deltaLength }));
    const model = `short/${lane.upstreamFormat}`;
    const response = await gateway.post(lane.path, { model, ...lane.said, stream: true });
    const stream = await response.text();
    const deltas = deltasIn(stream);
    expect(deltas).toMatch(/^A local secret: (?:lo?c?)?\[redacted\], and local-secret-17 again, local-sec$/);
    expect(stream).not.toContain(SHORT_KEY);
    const repeated = stream.match(/"text":"A local secret[^"]*"/g) ?? [];
    for (const said of repeated)
      expect(said).toMatch(/secret: (?:lo?c?)?\[redacted\], and local-secret-17 again/);
    if (lane.format === 'responses') expect(repeated.length).toBeGreaterThan(2);
  });
});

/** All text of the deltas of a stream, in any of the formats. */
function deltasIn(stream: string): string {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => {
      const { choices, delta } = JSON.parse(line.slice('data: '.length));
      if (typeof delta === 'string') return delta;
      const said = choices?.[0]?.delta ?? delta;
      return (
        said?.content ?? said?.text ?? said?.partial_json ?? said?.tool_calls?.[0].function.arguments ?? ''
      );
    })
    .join('');
}

it('hides a key in an error, and the BYOK key of a call', async () => {
  upstream.answer(reply(400, { error: { message: `The key ${KEY} is odd`, type: 'invalid_request_error' } }));
  const failed = await gateway.post('/chat/completions', { model: 'up/chat', ...CALLERS[0].said });
  expect(await failed.text()).not.toContain(KEY.slice(0, 12));
  const { ask } = managementOf(gateway);
  await ask('POST', '/byok', { provider: 'p-chat', key: OWN_KEY, name: 'own' });
  upstream.clear();
  upstream.answer(chatAnswer({ text: `x ${OWN_KEY} y` }));
  for (const stream of [false, true]) {
    const response = await gateway.post('/chat/completions', {
      model: 'up/chat',
      ...CALLERS[0].said,
      stream,
    });
    const shown = await response.text();
    expect((await upstream.request(upstream.requests.length - 1)).headers.authorization).toBe(
      `Bearer ${OWN_KEY}`,
    );
    expect(shown).toContain('[redacted]');
    expect(shown).not.toContain(OWN_KEY.slice(17));
  }
});
