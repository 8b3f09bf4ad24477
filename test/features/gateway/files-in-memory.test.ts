import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import {
  type FakeUpstream,
  head,
  never,
  openFakeUpstream,
  reply,
  reset,
  type Script,
  SSE,
  type Step,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

/** Text takes two bytes a character, and there is room for four bodies: two requests with it fill the room. */
const MAX_BODY_BYTES = 100_000;
const TEXT = 'word '.repeat(MAX_BODY_BYTES / 5);

const ANSWER = chatAnswer({ text: 'ok' }) as Extract<Script, (...given: never[]) => unknown>;

let upstream: FakeUpstream;
let gateway: TestGateway;
let fileId: string;
let pennilessKey: string;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const model = (id: string, contextLength: number) => ({
    id,
    context_length: contextLength,
    max_output_tokens: 100,
    endpoints: [{ provider: 'p', model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } }],
  });
  gateway = await openTestGateway({
    server: { max_body_bytes: MAX_BODY_BYTES },
    providers: [{ slug: 'p', dialect: 'openai-chat', base_url: upstream.url, api_key: 'k' }],
    models: [model('up/large', 100_000), model('up/small', 10_000), model('up/tiny', 1000)],
  });
  const created = await managementOf(gateway).ask('POST', '/keys', { name: 'penniless', limit: 0 });
  pennilessKey = created.body.key;
  fileId = await upload(TEXT);
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

async function upload(content: string): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([content]), 'words.txt');
  const response = await gateway.fetch('/files', { method: 'POST', body: form });
  expect(response.status).toBe(200);
  return ((await response.json()) as any).id;
}

const bodyOf = (more: object = {}, id = fileId) => ({
  model: 'up/large',
  messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
  ...more,
});

interface Asking {
  readonly id?: string;
  readonly path?: string;
  readonly key?: string;
  readonly signal?: AbortSignal;
}

const ask = (more: object = {}, { id, path = '/chat/completions', key, signal }: Asking = {}) =>
  gateway.fetch(path, {
    method: 'POST',
    body: JSON.stringify(bodyOf(more, id)),
    headers: { 'content-type': 'application/json' },
    ...(key !== undefined && { key }),
    ...(signal !== undefined && { signal }),
  });

async function statusOf(asked: Promise<Response>): Promise<number> {
  const response = await asked;
  await response.text();
  return response.status;
}

/** An answer that waits until it is released. */
function heldAnswer(): { readonly script: Script; readonly letGo: () => void } {
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  return { script: (request) => [() => gone, ...ANSWER(request)], letGo };
}

/** Two of three fill the room to its last byte, so a share that was not released is noticed. Releases may be late. */
function expectWholeRoom(): Promise<void> {
  return vi.waitFor(async () => {
    upstream.clear();
    const { script, letGo } = heldAnswer();
    upstream.answer(script);
    let answered = 0;
    const asked = [1, 2, 3].map(() => statusOf(ask()).finally(() => answered++));
    while (answered + upstream.requests.length < asked.length) await sleep(2);
    letGo();
    expect((await Promise.all(asked)).sort()).toEqual([200, 200, 503]);
  });
}

describe('memory for stored files', () => {
  it('is refused with 503 while others use all of it, and free again once they are answered', async () => {
    const { script, letGo } = heldAnswer();
    upstream.answer(script);
    const asked = [statusOf(ask()), statusOf(ask({ stream: true }))];
    await upstream.request(1);
    const refused = await ask();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(((await refused.json()) as any).error.message).toMatch(/stored files of the requests in flight/);
    expect(upstream.requests).toHaveLength(2);
    const withoutFiles = ask({ messages: [{ role: 'user', content: 'hi' }] });
    await upstream.request(2);
    letGo();
    expect(await statusOf(withoutFiles)).toBe(200);
    expect(await Promise.all(asked)).toEqual([200, 200]);
    await expectWholeRoom();
  });

  it.each<[string, number, Script, () => Promise<Response>]>([
    ['an answer', 200, ANSWER, () => ask()],
    ['a stream', 200, ANSWER, () => ask({ stream: true })],
    ['a failed answer', 502, reply(500, {}), () => ask()],
    ['a failed stream', 502, reply(500, {}), () => ask({ stream: true })],
    ['a stream that breaks off', 200, broken(), () => ask({ stream: true })],
    ['an unknown model', 400, ANSWER, () => ask({ model: 'up/none' })],
    ['a prompt that is counted and too long', 400, ANSWER, () => ask({ model: 'up/small' })],
    ['a prompt that is plainly too long', 400, ANSWER, () => ask({ model: 'up/tiny' })],
    ['an unknown provider', 404, ANSWER, () => ask({ provider: { only: ['none'] } })],
    ['no money', 402, ANSWER, () => ask({}, { key: pennilessKey })],
    [
      'an explanation',
      200,
      ANSWER,
      () => ask({ format: 'chat', model: 'up/tiny' }, { path: '/routing/explain' }),
    ],
  ])('is released after %s', async (_, status, script, asking) => {
    upstream.answer(script);
    expect(await statusOf(asking())).toBe(status);
    await expectWholeRoom();
  });

  it('is released after tokens were counted', async () => {
    const content = [{ type: 'document', source: { type: 'file', file_id: fileId } }];
    const body = { messages: [{ role: 'user', content }] };
    expect(await statusOf(ask(body, { path: '/messages/count_tokens' }))).toBe(200);
    await expectWholeRoom();
  });

  it('is released after a file without content', async () => {
    const id = await upload(TEXT);
    rmSync(join(gateway.dataDir, 'files', id));
    expect(await statusOf(ask({}, { id }))).toBe(404);
    await expectWholeRoom();
  });

  it.each([true, false])('is released when the caller leaves (stream: %s)', async (stream) => {
    upstream.answer([never()]);
    const leaving = new AbortController();
    const asked = ask({ stream }, { signal: leaving.signal });
    const { closed } = await upstream.request(0);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await closed;
    await expectWholeRoom();
  });

  it('is released when the caller leaves in the middle of a stream', async () => {
    upstream.answer([...beginning(), never()]);
    const leaving = new AbortController();
    const response = await ask({ stream: true }, { signal: leaving.signal });
    await response.body?.getReader().read();
    const { closed } = await upstream.request(0);
    leaving.abort();
    await closed;
    await expectWholeRoom();
  });
});

/** The first words of a stream. */
function beginning(): readonly Step[] {
  const chunk = {
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: 'Well' } }],
  };
  return [head(200, SSE), write(`data: ${JSON.stringify(chunk)}\n\n`)];
}

function broken(): readonly Step[] {
  return [...beginning(), reset()];
}
