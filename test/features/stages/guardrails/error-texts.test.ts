import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { responsesAnswer, sse } from '../../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  openFakeUpstream,
  reply,
  type Script,
  SSE,
  write,
} from '../../../kit/fakes/fake-upstream.ts';
import { FORMATS, WAYS } from '../plugins/formats.ts';
import {
  type Dialect,
  expectComplete,
  type GuardedGateway,
  openGuardedGateway,
  type Reply,
  receiptIn,
  stagesIn,
} from './guarded-gateway.ts';

/** Texts of upstream errors are scanned like answers. */

let guarded: GuardedGateway;
let service: FakeUpstream;
let key: string;

beforeAll(async () => {
  service = await openFakeUpstream();
  guarded = await openGuardedGateway({
    egress: { allow: ['127.0.0.1'] },
    routing: { attempts_per_model: 1, cooldown: { failures: 1000 } },
  });
  key = await guarded.guard({
    content_filter_builtins: [
      { slug: 'email', action: 'redact' },
      { slug: 'ssn', action: 'block' },
    ],
  });
});
beforeEach(() => guarded.upstream.clear());
afterAll(async () => {
  await guarded.close();
  await service.close();
});

const WITHHELD = 'Provider returned error: its text was withheld by a guardrail';
const LEAK = /ada@|\bada\\u0040|078-05|05-1120/;

/** For all requests from now on. */
function serve(script: Script): void {
  guarded.upstream.clear();
  guarded.upstream.answer(script);
}

const refusal = (status: number, message: string): Script =>
  reply(status, { error: { message, type: 'bad', code: `of ${message}` } });

/** Some text, then an error, as each dialect streams them. */
const BROKEN: Readonly<Record<Dialect, (message: string) => string>> = {
  'openai-chat': (message) =>
    sse([
      { data: JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'Some words. ' } }] }) },
      { data: JSON.stringify({ error: { message, code: 'server_error' } }) },
    ] as never),
  'openai-responses': (message) =>
    sse(
      [
        { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { type: 'message', id: 'm', role: 'assistant', status: 'in_progress', content: [] },
        },
        {
          type: 'response.content_part.added',
          item_id: 'm',
          output_index: 0,
          content_index: 0,
          part: { type: 'output_text', text: '', annotations: [] },
        },
        {
          type: 'response.output_text.delta',
          item_id: 'm',
          output_index: 0,
          content_index: 0,
          delta: 'Some words. ',
        },
        { type: 'error', message, code: 'server_error' },
      ].map((event) => ({ event: event.type, data: JSON.stringify(event) })) as never,
    ),
  'anthropic-messages': (message) =>
    sse(
      [
        {
          type: 'message_start',
          message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Some words. ' } },
        { type: 'error', error: { type: 'api_error', message } },
      ].map((event) => ({ event: event.type, data: JSON.stringify(event) })) as never,
    ),
};

async function expectClean(answer: Reply): Promise<any> {
  expect(answer.text).not.toMatch(LEAK);
  const record = await guarded.recordOf(answer, key);
  expect(JSON.stringify(record)).not.toMatch(LEAK);
  expectComplete(receiptIn(record));
  expect(guarded.gateway.logText()).not.toMatch(LEAK);
  return record;
}

const found = (record: any): string[] =>
  stagesIn(record).flatMap(({ data }) =>
    data.detected === true ? [`${data.action} ${data.direction} ${data.patterns}`] : [],
  );

describe.each(WAYS)('%s, stream %s', (path, stream) => {
  const body = (dialect: Dialect = 'openai-chat') => ({
    model: `m/${dialect}`,
    stream,
    ...FORMATS[path].of('Go'),
  });

  it.each([400, 500])('redacts and withholds the words of a refusal with %s', async (status) => {
    serve(refusal(status, 'No account for ada@example.com here'));
    const redacted = await guarded.ask(key, path, body());
    expect(redacted.status).toBe(status === 400 ? 400 : 502);
    const { error } = redacted.body;
    expect(redacted.text).toContain('No account for [EMAIL] here');
    if (status === 400) expect(error.message).toBe('No account for [EMAIL] here');
    expect(found(await expectClean(redacted))).toEqual(['redacted received Email address']);

    serve(refusal(status, 'No account for 078-05-1120 here'));
    const withheld = await guarded.ask(key, path, body());
    expect(withheld.status).toBe(status === 400 ? 400 : 502);
    expect(withheld.body.error.message).toBe(WITHHELD);
    expect(withheld.text).not.toContain('No account');
    expect(found(await expectClean(withheld))).toEqual(['blocked received Social Security number']);
  });

  it('leaves harmless words as they are', async () => {
    serve(refusal(400, 'max_tokens: 9000 > 4096'));
    const answer = await guarded.ask(key, path, body());
    expect(answer.body.error.message).toBe('max_tokens: 9000 > 4096');
    expect(found(await expectClean(answer))).toEqual([]);
  });

  it('goes on to an answer after a refusal whose words are withheld', async () => {
    guarded.upstream.answer(refusal(500, 'It is 078-05-1120')).answer(responsesAnswer({ text: 'Fine.' }));
    const second = { ...body(), models: ['m/openai-chat', 'm/openai-responses'] };
    const answer = await guarded.ask(key, path, second);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toContain('Fine.');
    await expectClean(answer);
  });

  const dialects = stream ? (Object.keys(BROKEN) as Dialect[]) : [];
  it.each(dialects)('redacts and withholds the text of an error midway from %s', async (dialect) => {
    const broken = (message: string) => [head(200, SSE), write(BROKEN[dialect](message)), end()];
    serve(broken('No account for ada@example.com here'));
    const redacted = await guarded.ask(key, path, body(dialect));
    expect(redacted.text).toContain('Some words.');
    expect(redacted.text).toContain('No account for [EMAIL] here');
    await expectClean(redacted);
    serve(broken('No account for 078-05-1120 here'));
    const withheld = await guarded.ask(key, path, body(dialect));
    expect(withheld.text).toContain('Some words.');
    expect(withheld.text).toContain(WITHHELD);
    await expectClean(withheld);
  });
});

const CHAT = { model: 'm/openai-chat', messages: [{ role: 'user', content: 'Go' }] };

it('finds what is written with escapes, and keeps back the end of what was cut', async () => {
  const escaped = '{"error": {"message": "Bad", "inner": "{\\"who\\": \\"ada\\\\u0040example.com\\"}"}}';
  serve([head(400, { 'content-type': 'application/json' }), write(escaped), end()]);
  const answer = await guarded.ask(key, '/chat/completions', CHAT);
  expect(answer.body.error.metadata.raw).toContain('[EMAIL]');
  await expectClean(answer);
  // Message and body are cut inside of the number.
  for (const length of [590, 2010]) {
    serve(reply(400, { error: { message: `${'word '.repeat(length / 5)}078-05-1120 more` } }));
    const cut = await guarded.ask(key, '/chat/completions', CHAT);
    expect(cut.text).not.toMatch(/078-/);
  }
});

it('asks the services of a guardrail, which may replace, withhold or be silent', async () => {
  const judged = await guarded.guard({ service: { url: `${service.url}/judge`, timeout_ms: 5000 } });
  const verdict = async (received: (texts: any[]) => Script) => {
    service.clear();
    service.answer((request) => {
      const { direction, texts } = request.json;
      const script = direction === 'sent' ? reply(200, { action: 'allow' }) : received(texts);
      return typeof script === 'function' ? script(request) : script;
    });
    serve(refusal(400, 'About Project Falcon'));
    return (await guarded.ask(judged, '/chat/completions', CHAT)).body.error;
  };
  const replaced = await verdict((texts) =>
    reply(200, { action: 'replace', texts: texts.map(({ text }) => text.replaceAll('Falcon', '[NAME]')) }),
  );
  expect(replaced.message).toBe('About Project [NAME]');
  expect(replaced.metadata.raw).not.toContain('Falcon');
  const withheld = await verdict(() => reply(200, { action: 'block', reason: 'Falcon' }));
  expect(withheld).toMatchObject({ code: 400, message: WITHHELD, metadata: { raw: WITHHELD } });
  const silent = await verdict(() => reply(500, {}));
  expect(silent).toMatchObject({ code: 400, message: WITHHELD });
});

it('leaves the errors of other keys as they are', async () => {
  serve(refusal(400, 'No account for ada@example.com here'));
  const answer = await guarded.ask(guarded.gateway.apiKey, '/chat/completions', CHAT);
  expect(answer.body.error.message).toBe('No account for ada@example.com here');
});
