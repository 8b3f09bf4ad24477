import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../../kit/fakes/answers.ts';
import { type GuardedGateway, openGuardedGateway, receiptIn, stagesIn } from './guarded-gateway.ts';

let guarded: GuardedGateway;

beforeAll(async () => {
  guarded = await openGuardedGateway();
});
beforeEach(() => {
  guarded.upstream.clear();
  guarded.upstream.answer(chatAnswer({ text: 'Fine.' }));
});
afterAll(() => guarded.close());

const flagging = (patterns: readonly string[], action = 'flag') => ({
  content_filters: patterns.map((pattern) => ({ pattern, action })),
});
const HOSTILE = flagging(Array.from({ length: 20 }, (_, index) => `a{1,1000}b${index}`));
const HOSTILE_TOGETHER = flagging(Array.from({ length: 60 }, (_, index) => `a{1,90}b${index}`));

/** Two patterns that creation allows, and a text of which each character takes some 4,000 steps of them. */
const DEAR = ['a.{100}b', 'a.{100}c'];
const DEAR_TEXT = unpredictable(60_000);

function unpredictable(length: number): string {
  let text = '';
  for (let random = 7; text.length < length; random = (random * 48271) % 2147483647) {
    text += (random >> 8) % 2 === 0 ? 'a' : 'x';
  }
  return text;
}

const asked = (content: string) => ({
  model: 'm/openai-chat',
  messages: [{ role: 'user', content }],
});
const outcomes = (direction: string, outcome: string) =>
  guarded.metric(`signalbox_guardrail_unfinished_scans_total{direction="${direction}",outcome="${outcome}"}`);

describe('patterns that would take too long', () => {
  it('are refused by themselves, with the path and what to change', async () => {
    const { ask } = guarded.management;
    const answer = await ask('POST', '/guardrails', { name: 'Wrong', ...HOSTILE });
    expect(answer).toMatchObject({ status: 400, body: { error: { type: 'invalid_regex_pattern' } } });
    expect(answer.body.error.metadata.issues[0].path).toBe('content_filters[0].pattern');
    expect(answer.body.error.message).toMatch(/takes more than 2500 steps a character: repeat less/);
  });

  it('are refused together, in a change as well as in a new guardrail and in a trial', async () => {
    const { ask, data } = guarded.management;
    const { id } = await data(201, 'POST', '/guardrails', { name: 'Rules', ...flagging(['a{1,90}b']) });
    for (const [method, path, more] of [
      ['POST', '/guardrails', { name: 'Wrong' }],
      ['PATCH', `/guardrails/${id}`, {}],
      ['POST', `/guardrails/${id}/test`, { text: 'aaa' }],
    ] as const) {
      const answer = await ask(method, path, { ...HOSTILE_TOGETHER, ...more });
      expect(answer).toMatchObject({ status: 400, body: { error: { type: 'invalid_regex_pattern' } } });
      expect(answer.body.error.message, path).toMatch(
        /content_filters\[\d+\]\.pattern: .* takes \d+ steps a character, and with the others more than 5000/,
      );
    }
    expect((await data(200, 'GET', `/guardrails/${id}`)).content_filters).toHaveLength(1);
  });
});

describe('a prompt that patterns cannot read within their limit', () => {
  it('is refused if one of them blocks, and nothing else waits for it', async () => {
    const before = await outcomes('sent', 'refused');
    const key = await guarded.guard(flagging(DEAR, 'block'));
    const free = await guarded.guard({});
    let isOver = false;
    const scan = guarded.ask(key, '/chat/completions', asked(DEAR_TEXT)).finally(() => {
      isOver = true;
    });
    let healthy = 0;
    let answered = 0;
    while (!isOver) {
      const { status } = await fetch(`${guarded.gateway.origin}/healthz`);
      if (status === 200 && !isOver) healthy++;
      if (healthy % 10 !== 5) continue;
      const other = await guarded.ask(free, '/chat/completions', asked('Hi'));
      if (other.status === 200 && !isOver) answered++;
    }
    expect(await scan).toMatchObject({
      status: 403,
      body: {
        error: {
          message: expect.stringMatching(/^Request blocked: custom patterns could not read all .* shorten/),
          metadata: { reason: 'unfinished_scan' },
        },
      },
    });
    // Each takes a few turns of the loop: a scan that held it would let none through.
    expect(healthy).toBeGreaterThan(20);
    expect(answered).toBeGreaterThan(1);
    expect(guarded.upstream.requests.map(({ json }) => json.messages[0].content)).not.toContain(DEAR_TEXT);
    expect(await outcomes('sent', 'refused')).toBe(before + 1);
  });

  it('passes if they only flag, and the record, the receipt and the metrics say so', async () => {
    const key = await guarded.guard(flagging(DEAR, 'flag'));
    const unscanned = 'signalbox_guardrail_unscanned_total{direction="sent"}';
    const before = [await outcomes('sent', 'passed'), await guarded.metric(unscanned)];
    const reply = await guarded.ask(key, '/chat/completions', asked(DEAR_TEXT));
    expect(reply.status).toBe(200);
    const record = await guarded.recordOf(reply, key);
    expect(stagesIn(record)).toContainEqual(
      expect.objectContaining({
        summary: 'Flagged: custom patterns could not read all of a text within their limit of work',
        data: expect.objectContaining({ action: 'flagged', detected: false, direction: 'sent' }),
      }),
    );
    const receipt = receiptIn(record);
    expect(receipt.characters_sent - receipt.characters_sent_scanned).toBe(DEAR_TEXT.length);
    await expect
      .poll(async () => [await outcomes('sent', 'passed'), await guarded.metric(unscanned)])
      .toEqual(before.map((count) => count + 1));
  });
});

it('an answer that patterns cannot read within their limit is withheld from there on', async () => {
  guarded.upstream.clear();
  guarded.upstream.answer(chatAnswer({ text: DEAR_TEXT }));
  const key = await guarded.guard(flagging(DEAR, 'block'));
  const reply = await guarded.ask(key, '/chat/completions', asked('Hi'));
  expect(reply.status).toBe(403);
  expect(reply.text).toMatch(/Response blocked: custom patterns could not read all/);
  expect(await outcomes('received', 'refused')).toBe(1);
});
