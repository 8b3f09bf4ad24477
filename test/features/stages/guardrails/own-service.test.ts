import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { chatAnswer, messagesAnswer, sse } from '../../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  never,
  openFakeUpstream,
  reply,
  SSE,
  type Step,
  write,
} from '../../../kit/fakes/fake-upstream.ts';
import { FORMATS, PATHS, WAYS } from '../plugins/formats.ts';
import {
  expectComplete,
  type GuardedGateway,
  openGuardedGateway,
  receiptIn,
  shownText,
  stagesIn,
} from './guarded-gateway.ts';

let guarded: GuardedGateway;
let service: FakeUpstream;

beforeAll(async () => {
  service = await openFakeUpstream();
  guarded = await openGuardedGateway({ egress: { allow: ['127.0.0.1'] } });
});
beforeEach(() => {
  service.clear();
  guarded.upstream.clear();
  guarded.upstream.answer(chatAnswer({ text: 'The plan is secret, they say.' }));
});
afterAll(async () => {
  await guarded.close();
  await service.close();
});

const guard = (more: JsonObject = {}) =>
  guarded.guard({ service: { url: `${service.url}/judge`, timeout_ms: 20_000, ...more } });

/** The service gives this verdict for each direction. */
function verdicts(of: { readonly sent?: unknown; readonly received?: unknown }): void {
  service.answer(({ json }) => {
    const verdict = of[json.direction as 'sent' | 'received'];
    const texts = json.texts.map(({ text }: { text: string }) => text);
    const given = typeof verdict === 'function' ? verdict(texts) : verdict;
    return reply(200, given ?? { action: 'allow' }) as readonly Step[];
  });
}

const replacing = (from: RegExp, to: string) => (texts: string[]) => ({
  action: 'replace',
  texts: texts.map((text) => (from.test(text) ? text.replace(from, to) : null)),
});

describe.each(WAYS)('%s, stream %s', (path, stream) => {
  const body = { model: 'm/openai-chat', stream, ...FORMATS[path].of('What is the plan of Ada?') };

  it('asks with the texts and their places, and passes what is allowed', async () => {
    verdicts({});
    const key = await guard();
    const answer = await guarded.ask(key, path, body);
    expect(answer.status, answer.text).toBe(200);
    expect(shownText(answer)).toContain('The plan is secret, they say.');
    const [sent, received] = service.requests.map(({ json }) => json);
    expect(sent).toMatchObject({ generation_id: answer.generationId, direction: 'sent' });
    const place = path === '/responses' ? 'input' : 'messages[0]';
    expect(sent.texts).toContainEqual({ text: 'What is the plan of Ada?', role: 'user', place });
    expect(received).toMatchObject({ guardrail_id: sent.guardrail_id, direction: 'received' });
    expect(received.texts).toContainEqual({
      text: 'The plan is secret, they say.',
      role: 'assistant',
      place: 'output[0].text[0]',
    });
    const receipt = receiptIn(await guarded.recordOf(answer, key));
    expectComplete(receipt);
    expect(receipt.services).toEqual([
      {
        engine: 'service',
        guardrail_id: sent.guardrail_id,
        characters_sent: expect.any(Number),
        characters_received: receipt.characters_received,
      },
    ]);
  });

  it('replaces what is sent and what is received', async () => {
    verdicts({ sent: replacing(/Ada/, '[NAME]'), received: replacing(/secret/, 'open') });
    const key = await guard();
    const answer = await guarded.ask(key, path, body);
    expect(answer.status, answer.text).toBe(200);
    const sent = guarded.upstream.requests[0]?.body ?? '';
    expect(sent).toContain('What is the plan of [NAME]?');
    expect(sent).not.toContain('Ada');
    expect(shownText(answer)).toContain('The plan is open, they say.');
    expect(answer.text).not.toContain('secret');
    const record = await guarded.recordOf(answer, key);
    expectComplete(receiptIn(record));
    const stages = stagesIn(record).filter(({ name }) => name === 'guardrail-service');
    expect(stages.map(({ data }) => [data.action, data.direction, data.engines])).toEqual([
      ['redacted', 'sent', ['service']],
      ['redacted', 'received', ['service']],
    ]);
  });

  it('refuses what is blocked, with the reason', async () => {
    verdicts({ sent: { action: 'block', reason: 'Project names' } });
    const key = await guard();
    const answer = await guarded.ask(key, path, body);
    expect(answer.status).toBe(403);
    expect(guarded.upstream.requests).toEqual([]);
    expect(answer.body.error.message).toBe('Request blocked by guardrail service: Project names');
    if (path !== '/messages') expect(answer.body.error.metadata.patterns).toEqual(['Project names']);
    const stage = expect.objectContaining({
      type: 'guardrail',
      name: 'guardrail-service',
      guardrail_scope: 'api-key',
      summary: 'Blocked: Project names (1 match)',
      data: {
        action: 'blocked',
        detected: true,
        engines: ['service'],
        patterns: ['Project names'],
        direction: 'sent',
      },
    });
    expect(answer.body.signalbox_metadata.pipeline).toContainEqual(stage);
    expect(stagesIn(await guarded.recordOf(answer, key))).toContainEqual(stage);
  });

  it('refuses an answer that is blocked before anything of it was sent', async () => {
    verdicts({ received: { action: 'block', reason: 'Leaks' } });
    const answer = await guarded.ask(await guard(), path, body);
    expect(answer.status, answer.text).toBe(403);
    expect(answer.text).toContain('Response blocked by guardrail service: Leaks');
    expect(answer.text).not.toContain('secret');
  });
});

describe('a service that gives no verdict', () => {
  const FAULTS: [string, () => void, string][] = [
    ['is down', () => service.answer([({ socket }) => void socket.destroy()]), ''],
    ['is slow', () => service.answer([never()]), 'took too long'],
    ['fails', () => service.answer(reply(500, { action: 'allow' })), 'answered with status 500'],
    ['answers no JSON', () => service.answer(reply(200, '<html>')), 'is no verdict'],
    ['answers no verdict', () => service.answer(reply(200, { action: 'perhaps' })), 'is no verdict'],
    [
      'replaces other texts',
      () => service.answer(reply(200, { action: 'replace', texts: [] })),
      'is no verdict',
    ],
  ];

  it.each(FAULTS)('%s: refuses when closed', async (_, fault, reason) => {
    fault();
    const key = await guard({ timeout_ms: 300, retries: 0 });
    for (const path of PATHS) {
      const body = { model: 'm/openai-chat', ...FORMATS[path].of('Hello Ada') };
      const answer = await guarded.ask(key, path, body);
      expect(answer.status, answer.text).toBe(503);
      expect(answer.body.error.message).toContain('The guardrail service gave no verdict: ');
      expect(answer.body.error.message).toContain(reason);
      expect(guarded.upstream.requests).toEqual([]);
      const stage = stagesIn(await guarded.recordOf(answer, key)).find(
        ({ name }) => name === 'guardrail-service',
      );
      expect(stage.data).toMatchObject({ action: 'refused', detected: false, direction: 'sent' });
      expect(stage.summary).toMatch(/^No verdict, nothing may pass without it: ./);
    }
  });

  it.each(FAULTS)('%s: passes when open, and never silently', async (_, fault) => {
    fault();
    const key = await guard({ timeout_ms: 300, retries: 0, on_failure: 'open' });
    const unscanned = 'signalbox_guardrail_unscanned_total{direction="sent"}';
    const failures = 'signalbox_guardrail_service_failures_total{engine="service",on_failure="open"}';
    const counted = () => Promise.all([unscanned, failures].map((line) => guarded.metric(line)));
    const [unscannedBefore = 0, failuresBefore = 0] = await counted();
    const body = { model: 'm/openai-chat', stream: true, ...FORMATS['/chat/completions'].of('Hello Ada') };
    const answer = await guarded.ask(key, '/chat/completions', body);
    expect(answer.status, answer.text).toBe(200);
    expect(shownText(answer)).toContain('The plan is secret');
    const record = await guarded.recordOf(answer, key);
    const receipt = receiptIn(record);
    expect(receipt.characters_sent_scanned).toBeLessThan(receipt.characters_sent);
    expect(receipt.characters_received_scanned).toBeLessThan(receipt.characters_received);
    expect(receipt.services).toMatchObject([{ characters_sent: 0, characters_received: 0 }]);
    const stages = stagesIn(record).filter(({ name }) => name === 'guardrail-service');
    expect(stages.map(({ data }) => [data.action, data.direction])).toEqual([
      ['passed', 'sent'],
      ['passed', 'received'],
    ]);
    expect(await counted()).toEqual([unscannedBefore + 1, failuresBefore + 2]);
    const warned = guarded.gateway.logged('a guardrail did not scan all of a generation').at(-1);
    expect(warned).toMatchObject({ level: 'warn', generation_id: answer.generationId });
  });

  it('leaves nothing in the response cache', async () => {
    service.answer(reply(500, {}));
    const key = await guard({ retries: 0, on_failure: 'open' });
    const body = { model: 'm/openai-chat', ...FORMATS['/chat/completions'].of('Cached?') };
    const status = async () => {
      const answer = await guarded.ask(key, '/chat/completions', body, { 'x-signalbox-cache': 'true' });
      return answer.headers.get('x-signalbox-cache-status');
    };
    expect([await status(), await status()]).toEqual(['MISS', 'MISS']);
    service.clear();
    verdicts({});
    expect([await status(), await status()]).toEqual(['MISS', 'HIT']);
  });

  it('is asked again as often as its guardrail says', async () => {
    const key = await guard({ retries: 2 });
    const ask = () =>
      guarded.ask(key, '/responses', { model: 'm/openai-chat', input: 'Hello Ada', max_output_tokens: 9 });
    service
      .answer(reply(500, {}))
      .answer(reply(502, {}))
      .answer(reply(200, { action: 'allow' }));
    expect((await ask()).status).toBe(200);
    expect(service.requests.filter(({ json }) => json.direction === 'sent').length).toBe(3);
    service.clear();
    service.answer(reply(500, {}));
    expect((await ask()).status).toBe(503);
    expect(service.requests.length).toBe(3);
  });
});

describe('a service that judges a window of an answer at a time', () => {
  const FIRST = 'Here is the first sentence, which is long enough. ';
  const SECOND = 'And there is the second one, with a secret in it.';
  const body = { model: 'm/openai-chat', stream: true, messages: [{ role: 'user', content: 'Go' }] };
  const delta = (content: string) =>
    sse([
      { data: { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] } },
    ]);
  const finish = sse([
    { data: { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] } },
    { data: '[DONE]' },
  ]);

  it('passes the first window on while the upstream still writes', async () => {
    verdicts({});
    const key = await guard({ window_characters: 20 });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const script = [
      head(200, SSE),
      write(delta(FIRST)),
      () => released,
      write(delta(SECOND) + finish),
      end(),
    ];
    guarded.upstream.clear();
    guarded.upstream.answer(script);
    const response = await guarded.gateway.fetch('/chat/completions', {
      method: 'POST',
      key,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('long enough')) text += Buffer.from((await reader.read()).value ?? []).toString();
    release();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += Buffer.from(read.value).toString();
    }
    expect(text).toContain('a secret in it');
    const received = service.requests.map(({ json }) => json).filter((each) => each.direction === 'received');
    const texts = received.flatMap((each) => each.texts).filter(({ place }) => place.endsWith('.text[0]'));
    expect(texts).toMatchObject([{ text: FIRST }, { text: SECOND, before: FIRST }]);
  });

  it('fails in band if a later window is blocked, and shows nothing of that', async () => {
    verdicts({
      received: (texts: string[]) =>
        texts.some((text) => text.includes('secret')) ? { action: 'block', reason: 'Leaks' } : undefined,
    });
    guarded.upstream.clear();
    guarded.upstream.answer([
      head(200, SSE),
      write(delta(FIRST)),
      // The request was judged, and the first window is.
      async () => void (await service.request(1)),
      write(delta(SECOND) + finish),
      end(),
    ]);
    const key = await guard({ window_characters: 20, on_failure: 'open' });
    const answer = await guarded.ask(key, '/chat/completions', body);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('the first sentence');
    expect(answer.text).toContain('Response blocked by guardrail service: Leaks');
    expect(answer.text).not.toMatch(/secret|second/);
  });
});

it('judges thoughts and arguments of tools, and drops seals over replaced text', async () => {
  guarded.upstream.clear();
  guarded.upstream.answer(
    messagesAnswer({
      reasoning: 'Ada wants it.',
      text: 'Fine.',
      tools: [{ name: 'find', arguments: '{"who": "Ada", "n": 1}' }],
    }),
  );
  verdicts({ received: replacing(/Ada/, '[NAME]') });
  for (const stream of [false, true]) {
    const key = await guard();
    const tools = [{ name: 'find', input_schema: { type: 'object' } }];
    const body = { model: 'm/anthropic-messages', stream, tools, ...FORMATS['/messages'].of('Go') };
    const answer = await guarded.ask(key, '/messages', body);
    expect(answer.status, answer.text).toBe(200);
    expect(shownText(answer)).toContain('[NAME] wants it.');
    expect(shownText(answer)).toMatch(/who\\?": ?\\?"\[NAME\]/);
    expect(answer.text).not.toContain('Ada');
    // An envelope of ours without a seal in it.
    const seals = [...answer.text.matchAll(/"signature":"([^"]+)"/g)].map(([, seal]) => seal);
    expect(new Set(seals)).toEqual(new Set(['sealed.v1.e30']));
    expectComplete(receiptIn(await guarded.recordOf(answer, key)));
  }
});

it('sends nothing to an upstream that could count the tokens of a prompt', async () => {
  guarded.upstream.clear();
  guarded.upstream.answer(reply(200, { input_tokens: 4242 }));
  const body = { model: 'm/anthropic-messages', messages: [{ role: 'user', content: 'How long is this?' }] };
  const count = async (key: string) => (await guarded.ask(key, '/messages/count_tokens', body)).body;
  expect(await count(guarded.gateway.apiKey)).toEqual({ input_tokens: 4242 });
  const { input_tokens: counted } = await count(await guard());
  expect(counted).toBeGreaterThan(3);
  expect(counted).toBeLessThan(30);
  expect(guarded.upstream.requests.length).toBe(1);
  expect(service.requests).toEqual([]);
});

it('asks the service in a trial too', async () => {
  const { data, ask } = guarded.management;
  const { id } = await data(201, 'POST', '/guardrails', {
    name: 'Tried',
    content_filter_builtins: [{ slug: 'email', action: 'redact' }],
    service: { url: service.url, timeout_ms: 300, retries: 0 },
  });
  verdicts({ sent: replacing(/Ada/, '[NAME]') });
  const tried = async (text: string) => (await ask('POST', `/guardrails/${id}/test`, { text })).body.data;
  expect(await tried('Ada is ada@example.com')).toMatchObject({
    action: 'redacted',
    text: '[NAME] is [EMAIL]',
    findings: [{ engine: 'regex' }, { engine: 'service', label: 'Guardrail service' }],
    failures: [],
  });
  // What the filters redact, the service never sees.
  expect(service.requests[0]?.body).not.toContain('example.com');
  service.clear();
  service.answer(reply(500, {}));
  expect(await tried('Ada')).toMatchObject({
    action: 'blocked',
    failures: [{ engine: 'service', on_failure: 'closed', reason: 'the service answered with status 500' }],
  });
});
