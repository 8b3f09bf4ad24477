import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reset, stall } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

async function open(attemptsPerRequest: number): Promise<void> {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    routing: { attempts_per_request: attemptsPerRequest, cooldown: { failures: 1000 } },
    providers: [{ slug: 'one', name: 'One', dialect: 'openai-chat', base_url: upstream.url }],
    models: [{ id: 'up/one', endpoints: [{ provider: 'one', model: 'one' }] }],
  });
}

async function ask() {
  const headers = { 'X-Signalbox-Metadata': 'enabled' };
  const response = await gateway.post('/responses', { model: 'up/one', input: 'Hi' }, headers);
  const id = response.headers.get('x-generation-id');
  return { status: response.status, id, body: (await response.json()) as any };
}

/** Has a connection kept, and then closed after `milliseconds` when it is used again. */
async function askOverClosed(milliseconds: number) {
  upstream.answer(chatAnswer({ text: 'warm' }));
  expect((await ask()).status).toBe(200);
  await sleep(30);
  upstream.clear();
  upstream.answer(milliseconds === 0 ? [reset()] : [stall(milliseconds), reset()]);
  upstream.answer(chatAnswer({ text: 'again' }));
  return await ask();
}

it('a call that is sent again is an attempt of its own, in the answer and in the record', async () => {
  await open(8);
  // A machine that is busy may notice the end too late, and then the call is not sent again.
  for (let tries = 0; tries < 30; tries++) {
    const { status, id, body } = await askOverClosed(0);
    if (status !== 200) {
      expect([status, upstream.requests.length]).toEqual([502, 1]);
      continue;
    }
    expect(upstream.requests).toHaveLength(2);
    expect(body.signalbox_metadata).toMatchObject({
      attempt: 2,
      attempts: [
        { provider: 'One', status: 502 },
        { provider: 'One', status: 200 },
      ],
    });
    const record = await gateway.fetch(`/generation?id=${id}`);
    const { data } = (await record.json()) as any;
    expect(data.provider_responses.map((each: any) => each.status)).toEqual([502, 200]);
    return;
  }
  expect.unreachable('no call was sent again');
});

it('a call that is sent again and fails again counts once against its endpoint', async () => {
  await open(8);
  upstream.answer(chatAnswer({ text: 'warm' }));
  expect((await ask()).status).toBe(200);
  await sleep(30);
  upstream.clear();
  upstream.answer([reset()]);
  expect((await ask()).status).toBe(502);
  const explained = await gateway.post('/routing/explain', { model: 'up/one', input: 'Hi' });
  const { data } = (await explained.json()) as any;
  expect(data.candidates[0].health.failures).toBe(1);
});

it.each([
  ['the limit of calls is reached', 1, 0],
  ['the upstream had time to begin', 8, 100],
])('a call is not sent again where %s', async (_, attempts, milliseconds) => {
  await open(attempts);
  const { status } = await askOverClosed(milliseconds);
  expect([status, upstream.requests.length]).toEqual([502, 1]);
});
