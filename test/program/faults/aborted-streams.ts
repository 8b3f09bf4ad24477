import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { expect } from 'vitest';
import { openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { recordedAnswers } from './recorded-answers.ts';
import { loggedAnswer, NANOS_PER_TOKEN, type SentAnswer } from './sent-answers.ts';

/** Tokens of a whole answer. */
const WHOLE_TOKENS = 400;

/** What the caller knows of one request. */
interface SeenAnswer {
  readonly user: string;
  readonly tokens: number;
  readonly isWhole: boolean;
}

/**
 * An upstream that keeps its own log, and a gateway in front of it. `slug` decides whether answers are read to their
 * end.
 */
async function openAbortBench(slug: string) {
  const upstream = await openFakeUpstream();
  const log: SentAnswer[] = [];
  const pricing = { prompt: '0', completion: '0.00004' };
  const gateway = await openTestGateway({
    providers: [{ slug, name: slug, dialect: 'openai-chat', base_url: upstream.url, api_key: 'sk-none' }],
    models: [{ id: 'm/one', endpoints: [{ provider: slug, model: 'one', pricing }] }],
  } as never);
  upstream.answer(loggedAnswer(log));
  return { upstream, gateway, log };
}

/** Asks for a stream and leaves after about so many tokens; `Infinity`: never. */
function streamUntil(gateway: TestGateway, user: string, leaveAfter: number): Promise<SeenAnswer> {
  return new Promise((resolve, reject) => {
    let text = '';
    const seen = (isWhole: boolean): SeenAnswer => ({
      user,
      tokens: text.split('"word ').length - 1,
      isWhole,
    });
    const call = request(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
    });
    const leave = () => {
      call.destroy();
      resolve(seen(false));
    };
    call.on('error', (error) => (call.destroyed ? resolve(seen(false)) : reject(error)));
    call.on('response', (response) => {
      if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`));
      response.on('data', (piece) => {
        text += String(piece);
        if (seen(false).tokens >= leaveAfter) leave();
      });
      response.on('end', () => resolve(seen(text.includes('[DONE]'))));
      response.on('error', () => resolve(seen(false)));
    });
    const messages = [{ role: 'user', content: `${user}; ${WHOLE_TOKENS}` }];
    call.end(JSON.stringify({ model: 'm/one', user, stream: true, messages }));
    if (leaveAfter === 0) setTimeout(leave, Math.random() * 10);
  });
}

/** Streams at a time. */
const ABREAST = 20;

/** Has so many streams begun, and most of them left at random points. The gateway is closed by then. */
async function run(slug: string, streams: number) {
  const { gateway, upstream, log } = await openAbortBench(slug);
  const seen: SeenAnswer[] = [];
  for (let begun = 0; begun < streams; begun += ABREAST) {
    const wave = Array.from({ length: Math.min(ABREAST, streams - begun) }, (_, index) => {
      const isWhole = Math.random() < 0.2;
      const leaveAfter = isWhole ? Number.POSITIVE_INFINITY : Math.floor(Math.random() * WHOLE_TOKENS);
      return streamUntil(gateway, `caller ${begun + index}`, leaveAfter);
    });
    seen.push(...(await Promise.all(wave)));
  }
  await gateway.drain(10_000);
  const recorded = recordedAnswers(gateway.dataDir);
  rmSync(gateway.dataDir, { recursive: true, force: true });
  await upstream.close();
  return { seen, recorded, log };
}

/**
 * Has so many streams left at random points, and compares what is recorded with the upstream's own log: nothing
 * missing, nothing double, to the nano-dollar.
 */
export async function abortAndCompare(slug: string, streams: number): Promise<void> {
  const { seen, recorded, log } = await run(slug, streams);
  expect(new Set(recorded.map(({ user }) => user)).size).toBe(recorded.length);
  expect(new Set(recorded.map(({ id }) => id)).size).toBe(recorded.length);
  const users = new Set(recorded.map(({ user }) => user));
  expect(log.filter(({ user }) => !users.has(user))).toEqual([]);
  for (const record of recorded) {
    // The last attempt: one that fails before its answer begins is followed by another.
    const sent = log.findLast(({ user }) => user === record.user);
    const got = seen.find(({ user }) => user === record.user);
    expect(record.creditNanos).toBe(BigInt(record.tokens) * NANOS_PER_TOKEN);
    if (sent === undefined) {
      // It was on its way to the upstream and did not arrive.
      expect(record).toMatchObject({ tokens: 0, cancelled: true });
      continue;
    }
    expect(record.tokens).toBeGreaterThanOrEqual(got?.tokens ?? 0);
    // A caller that disconnects while the last bytes are in flight may have had the whole answer.
    if (got?.isWhole === true) expect(record.cancelled).toBe(false);
    if (!record.cancelled || (slug === 'groq' && sent.isWhole)) {
      expect(record).toMatchObject({ tokens: WHOLE_TOKENS, source: 'measured' });
    } else {
      const story = JSON.stringify({ ...record, creditNanos: 0, got, begun: sent.begun });
      expect(record.tokens, story).toBeLessThanOrEqual(sent.begun + 10);
    }
  }
  expect(log.every(({ isWhole }) => isWhole)).toBe(slug === 'groq');
}
