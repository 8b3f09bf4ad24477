import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  chatBody,
  chatFrames,
  messagesBody,
  messagesFrames,
  responsesBody,
  responsesFrames,
  sse,
} from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  reply,
  type Script,
  SSE,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

/** Two numbers that are the same double, and one that is larger than any that is written without an exponent. */
const ODD = '9007199254740993';
const EVEN = '9007199254740992';
const LONG = '123456789012345678901234567890';

const DIALECTS = { chat: 'openai-chat', responses: 'openai-responses', messages: 'anthropic-messages' };

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: Object.entries(DIALECTS).map(([format, dialect]) => ({
      slug: `p-${format}`,
      dialect,
      base_url: upstream.url,
      api_key: 'k',
    })),
    models: Object.keys(DIALECTS).map((format) => ({
      id: `up/${format}`,
      max_output_tokens: 8000,
      endpoints: [
        { provider: `p-${format}`, model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } },
      ],
    })),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const CONTENT = { text: 'one two three', tools: [{ name: 'f', arguments: '{"a":1}' }] };
const SCHEMA = `{"type":"object","properties":{"id":{"type":"integer","minimum":${ODD},"maximum":${EVEN}}}}`;

const FORMATS = [
  {
    format: 'chat',
    path: '/chat/completions',
    said: `"messages":[{"role":"user","content":"hi ${ODD}"}],"tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}]`,
    frames: chatFrames(CONTENT),
    body: chatBody(CONTENT),
  },
  {
    format: 'messages',
    path: '/messages',
    said: `"max_tokens":50,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"id":${ODD},"n":${LONG}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}],"tools":[{"name":"f","input_schema":${SCHEMA}}]`,
    frames: messagesFrames(CONTENT),
    body: messagesBody(CONTENT),
  },
  {
    format: 'responses',
    path: '/responses',
    said: `"input":"hi","tools":[{"type":"function","name":"f","strict":false,"parameters":${SCHEMA}}]`,
    frames: responsesFrames(CONTENT),
    body: responsesBody(CONTENT),
  },
] as const;

/** JSON objects in a text, each with long numbers put in front. */
function numbered(text: string): string {
  return text.replace(/(^|data: )\{/g, `$1{"x_ids":{"odd":${ODD},"even":${EVEN},"long":${LONG}},`);
}

/** The digits of numbers by their names. */
function digitsIn(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`"${name}":(-?[0-9.e+]+)`, 'g'))].map(([, digits]) => digits ?? '');
}

function post(path: string, body: string, headers: Record<string, string> = {}) {
  return gateway.fetch(path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

describe.each(FORMATS)(
  'numbers beyond 2^53 in the $format format',
  ({ format, path, said, frames, body }) => {
    const asked = (more = '') => `{"model":"up/${format}",${said},"x_trace":${LONG}${more}}`;
    const whole: Script = reply(200, numbered(JSON.stringify(body)));
    const streamed: Script = [head(200, SSE), write(numbered(sse(frames))), end()];

    it('reach the upstream', async () => {
      upstream.answer(whole);
      expect((await post(path, asked())).status).toBe(200);
      const { body: sent } = await upstream.request(0);
      expect(digitsIn(sent, 'minimum')).toEqual([ODD]);
      expect(digitsIn(sent, 'maximum')).toEqual([EVEN]);
      expect(digitsIn(sent, 'x_trace')).toEqual([LONG]);
      if (format === 'messages') expect(digitsIn(sent, 'n')).toEqual([LONG]);
    });

    it('reach the upstream of a large request', async () => {
      upstream.answer(whole);
      expect((await post(path, asked(`,"x_more":"${'x'.repeat(400_000)}"`))).status).toBe(200);
      const { body: sent } = await upstream.request(0);
      expect([...digitsIn(sent, 'minimum'), ...digitsIn(sent, 'x_trace')]).toEqual([ODD, LONG]);
    });

    it('reach the upstream however many they are', async () => {
      upstream.answer(whole);
      const odd = Array.from({ length: 2_500 }, (_, index) => String(2n ** 53n + 1n + 2n * BigInt(index)));
      const ids = [...odd, '9007199254740996', '1e400', '-1e400', '9.007199254740998e15'].join();
      expect((await post(path, asked(`,"x_ids":[${ids}]`))).status).toBe(200);
      const { body: sent } = await upstream.request(0);
      expect(/"x_ids":\[([^\]]*)\]/.exec(sent)?.[1]).toBe(ids);
    });

    it('come back in a whole answer', async () => {
      upstream.answer(whole);
      const text = await (await post(path, asked())).text();
      expect(digitsIn(text, 'odd')).toEqual([ODD]);
      expect(digitsIn(text, 'even')).toEqual([EVEN]);
      expect(digitsIn(text, 'long')).toEqual([LONG]);
    });

    it('come back in every event of a stream', async () => {
      upstream.answer(streamed);
      const text = await (await post(path, asked(',"stream":true'))).text();
      expect(new Set(digitsIn(text, 'odd'))).toEqual(new Set([ODD]));
      expect(new Set(digitsIn(text, 'even'))).toEqual(new Set([EVEN]));
      expect(new Set(digitsIn(text, 'long'))).toEqual(new Set([LONG]));
      expect(digitsIn(text, 'odd').length).toBeGreaterThan(2);
    });

    it('come back from the response cache, which tells requests apart by them', async () => {
      const cached = { 'X-Signalbox-Cache': 'true' };
      upstream.answer(whole);
      await (await post(path, asked(`,"x_one":${ODD}`), cached)).text();
      const again = await post(path, asked(`,"x_one":${ODD}`), cached);
      expect(again.headers.get('x-signalbox-cache-status')).toBe('HIT');
      expect(digitsIn(await again.text(), 'odd')).toEqual([ODD]);
      const other = await post(path, asked(`,"x_one":${EVEN}`), cached);
      expect(other.headers.get('x-signalbox-cache-status')).toBe('MISS');
      await other.text();
    });
  },
);

it('keep their digits in tools of translated requests', async () => {
  upstream.answer([head(200, JSON_TYPE), write(JSON.stringify(messagesBody(CONTENT))), end()]);
  const { said, path } = FORMATS[0];
  expect((await post(path, `{"model":"up/messages",${said}}`)).status).toBe(200);
  expect(digitsIn((await upstream.request(0)).body, 'minimum')).toEqual([ODD]);
});

const ARGUMENTS = `{"order_id":${ODD},"n":${LONG}}`;

it('keep their digits where the input of a call becomes text', async () => {
  upstream.answer([head(200, JSON_TYPE), write(JSON.stringify(chatBody(CONTENT))), end()]);
  const call = `{"type":"tool_use","id":"t","name":"f","input":${ARGUMENTS}}`;
  const said =
    `"max_tokens":50,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[${call}]},` +
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}]';
  expect((await post('/messages', `{"model":"up/chat",${said}}`)).status).toBe(200);
  expect((await upstream.request(0)).body).toContain(`"arguments":${JSON.stringify(ARGUMENTS)}`);
});

it('keep their digits where arguments come as an object', async () => {
  const { said, path } = FORMATS[0];
  const called = JSON.stringify(messagesBody(CONTENT)).replace('{"a":1}', ARGUMENTS);
  upstream.answer([head(200, JSON_TYPE), write(called), end()]);
  const asText = await (await post(path, `{"model":"up/messages",${said}}`)).text();
  expect(asText).toContain(`"arguments":${JSON.stringify(ARGUMENTS)}`);
});

it('keep their digits where arguments become an object', async () => {
  const tools = [{ name: 'f', arguments: ARGUMENTS }];
  upstream.answer([head(200, JSON_TYPE), write(JSON.stringify(chatBody({ ...CONTENT, tools }))), end()]);
  const asked = '{"model":"up/chat","max_tokens":50,"messages":[{"role":"user","content":"hi"}]}';
  expect(await (await post('/messages', asked)).text()).toContain(`"input":${ARGUMENTS}`);
});
