import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../../kit/fakes/answers.ts';
import { end, head, never, SSE, write } from '../../../kit/fakes/fake-upstream.ts';
import { FORMATS, PATHS } from '../plugins/formats.ts';
import {
  ANSWERS,
  type Dialect,
  expectComplete,
  type GuardedGateway,
  openGuardedGateway,
  receiptIn,
  shownText,
  stagesIn,
} from './guarded-gateway.ts';

/** From the management API to the record: everything over HTTP, with the stages of the program as it ships. */

let guarded: GuardedGateway;

beforeAll(async () => {
  guarded = await openGuardedGateway({
    models: [
      {
        id: 'm/priced',
        endpoints: [{ provider: 'openai-chat', model: 'one', pricing: { completion: '0.001' } }],
      },
    ],
  });
});
beforeEach(() => guarded.upstream.clear());
afterAll(() => guarded.close());

const RULES = {
  content_filter_builtins: [
    { slug: 'email', action: 'redact' },
    { slug: 'ssn', action: 'block' },
  ],
  content_filters: [{ pattern: 'harmless-[0-9]+', action: 'flag', label: 'Harmless' }],
};

const CASES = PATHS.flatMap((path) =>
  (Object.keys(ANSWERS) as Dialect[]).flatMap((dialect) =>
    [false, true].map((stream) => [path, dialect, stream] as const),
  ),
);

describe.each(CASES)('%s to %s, stream %s', (path, dialect, stream) => {
  const body = (text: string) => ({ model: `m/${dialect}`, stream, ...FORMATS[path].of(text) });

  it('redacts, flags and blocks what is sent and received, and records all of it', async () => {
    const key = await guarded.guard(RULES);
    guarded.upstream.answer(ANSWERS[dialect]({ text: 'For harmless-2 write to bob@example.org.' }));
    const passed = await guarded.ask(key, path, body('I am ada@example.com of harmless-1.'));
    expect(passed.status, passed.text).toBe(200);
    expect(guarded.upstream.requests[0]?.body).toContain('I am [EMAIL] of harmless-1.');
    expect(guarded.upstream.requests[0]?.body).not.toContain('ada@');
    expect(shownText(passed)).toContain('For harmless-2 write to [EMAIL].');
    expect(passed.text).not.toContain('bob@');
    const record = await guarded.recordOf(passed, key);
    expectComplete(receiptIn(record));
    const stages = stagesIn(record).filter(({ data }) => data.detected === true);
    expect(stages.map(({ data }) => `${data.action} ${data.direction} ${data.patterns}`).sort()).toEqual([
      'flagged received Harmless',
      'flagged sent Harmless',
      'redacted received Email address',
      'redacted sent Email address',
    ]);
    expect(JSON.stringify(record)).not.toMatch(/ada@|bob@/);

    guarded.upstream.clear();
    const refused = await guarded.ask(key, path, body('It is 078-05-1120.'));
    expect(refused).toMatchObject({ status: 403 });
    expect(refused.body.error.message).toBe('Request blocked by content filter: Social Security number');
    expect(guarded.upstream.requests).toEqual([]);
    expect(refused.body.signalbox_metadata.pipeline).toContainEqual(
      expect.objectContaining({ guardrail_scope: 'api-key', summary: expect.stringMatching(/^Blocked: /) }),
    );
    expect(await guarded.recordOf(refused, key)).toMatchObject({ total_cost: 0, provider_name: null });

    guarded.upstream.answer(ANSWERS[dialect]({ text: '078-05-1120 is it' }));
    const withheld = await guarded.ask(key, path, body('Which number?'));
    expect(withheld.status).toBe(403);
    expect(withheld.text).not.toContain('078-05');
    expect(guarded.gateway.logged('a guardrail did not scan all of a generation')).toEqual([]);
  });
});

it('counts in analytics how often guardrails found something', async () => {
  const query = { metrics: ['request_count', 'guardrail_invoked_count', 'guardrail_invoked_rate'] };
  const counted = async () => {
    const { body } = await guarded.management.ask('POST', '/analytics/query', {
      ...query,
      granularity: 'day',
    });
    return body.data?.data?.[0] ?? body.data?.[0] ?? body;
  };
  // Every request above but none besides.
  await expect.poll(async () => Number((await counted()).guardrail_invoked_count)).toBe(CASES.length * 3);
});

it('charges what a refused stream has written, and does not count it against the endpoint', async () => {
  const key = await guarded.guard(RULES);
  const chunk = (content: string) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`;
  const text = `${chunk('Some words that may pass. '.repeat(20))}${chunk('It is 078-05-1120, he says.')}`;
  const body = { model: 'm/priced', stream: true, messages: [{ role: 'user', content: 'Go' }] };
  for (let count = 0; count < 6; count++) {
    guarded.upstream.answer([head(200, SSE), write(text), never()]);
    const refused = await guarded.ask(key, '/chat/completions', body);
    expect(refused.text).toContain('Response blocked by content filter: Social Security number');
    const { total_cost: cost } = await guarded.recordOf(refused, key);
    expect(cost).toBeGreaterThan(0.05);
  }
  const explained = await guarded.ask(key, '/routing/explain', { format: 'chat', ...body });
  expect(explained.body.data.candidates[0].health).toMatchObject({ state: 'ok', failures: 0 });
});

describe('a key whose guardrail has no filters', () => {
  /** A number that only survives as the bytes it came as. */
  const EXACT = '12345678901234567890.10';

  it('keeps the relay lane', async () => {
    const frame = `data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"}}],"of_its_own":${EXACT}}\n\n`;
    const finish =
      'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    const ask = async (rules: object) => {
      guarded.upstream.clear();
      guarded.upstream.answer([head(200, SSE), write(frame + finish), end()]);
      const key = await guarded.guard(rules as never);
      const body = { model: 'm/openai-chat', stream: true, messages: [{ role: 'user', content: 'Go' }] };
      const answer = await guarded.ask(key, '/chat/completions', body);
      expect(answer.status).toBe(200);
      return { answer, record: await guarded.recordOf(answer, key) };
    };
    const relayed = await ask({ ignored_models: ['m/openai-responses'], limit_usd: 5 });
    expect(relayed.answer.text).toContain(EXACT);
    expect(receiptIn(relayed.record)).toBeUndefined();
    const translated = await ask(RULES);
    expect(translated.answer.text).not.toContain(EXACT);
    expectComplete(receiptIn(translated.record));
  });
});

describe('the response cache', () => {
  const body = {
    model: 'm/openai-chat',
    ...FORMATS['/chat/completions'].of('Who is it? I am ada@example.com'),
  };
  const CACHED = { 'x-signalbox-cache': 'true' };

  it('comes after guardrails, and keeps answers for the guardrails that they passed', async () => {
    guarded.upstream.answer(chatAnswer({ text: 'It is bob@example.org.' }));
    const { body: made } = await guarded.management.ask('POST', '/keys', { name: 'cached' });
    const key: string = made.key;
    const ask = async () => {
      const answer = await guarded.ask(key, '/chat/completions', body, CACHED);
      return [answer.headers.get('x-signalbox-cache-status'), shownText(answer).match(/It is [^"\\]*/)?.[0]];
    };
    expect(await ask()).toEqual(['MISS', 'It is bob@example.org.']);
    expect(await ask()).toEqual(['HIT', 'It is bob@example.org.']);
    // An answer that no guardrail has seen is not found by a key that has one now.
    const { id } = await guarded.management.data(201, 'POST', '/guardrails', { name: 'New', ...RULES });
    await guarded.management.ask('POST', `/guardrails/${id}/assignments/keys`, {
      key_hashes: [made.data.hash],
    });
    expect(await ask()).toEqual(['MISS', 'It is [EMAIL].']);
    expect(await ask()).toEqual(['HIT', 'It is [EMAIL].']);
    expect(guarded.upstream.requests.length).toBe(2);
    // Nor is one that passed other rules.
    const filters = [{ pattern: 'bob', action: 'redact', label: 'NAME' }];
    await guarded.management.ask('PATCH', `/guardrails/${id}`, {
      content_filters: filters,
      content_filter_builtins: null,
    });
    expect(await ask()).toEqual(['MISS', 'It is [NAME]@example.org.']);
    // What blocks, blocks although an answer is kept.
    await guarded.management.ask('PATCH', `/guardrails/${id}`, {
      content_filters: [{ pattern: 'Who is it', action: 'block', label: 'Who' }],
    });
    const refused = await guarded.ask(key, '/chat/completions', body, CACHED);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('x-signalbox-cache-status')).toBeNull();
  });
});
