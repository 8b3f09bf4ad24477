import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { killHard, PROGRAM, signalbox } from '../../kit/program.ts';
import { type StartedProgram, startProgram, stopped } from '../../kit/started-program.ts';

const API_KEY = 'sk-sb-v1-api-key-of-the-tail-test';
const PROVIDER_KEY = 'key-of-the-provider-0123456789';

let folder: string;
let upstream: FakeUpstream;
let program: StartedProgram;

const env = { SIGNALBOX_API_KEY: API_KEY, UP_KEY: PROVIDER_KEY };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-tail-'));
  upstream = await openFakeUpstream();
  const model = (id: string) => ({ id, endpoints: [{ provider: 'up', model: 'v1', tag: 'up/main' }] });
  const config = {
    routing: { cooldown: { failures: 1000 } },
    providers: [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
      { slug: 'up', name: 'Up', dialect: 'openai-chat', base_url: upstream.url, api_key: '${UP_KEY}' },
    ],
    models: [model('m/one'), model('m/two')],
  };
  writeFileSync(join(folder, 'signalbox.yaml'), stringify(config));
});

afterAll(async () => {
  await stopped(program.child, 'SIGTERM');
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A tail of the running gateway. The provider's key is not in its environment. */
function tail(...words: string[]) {
  const child = spawn(process.execPath, [PROGRAM, 'generations', 'tail', ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return { child, out: () => out, err: () => err };
}

async function ask(model: string, more: object = {}) {
  const response = await fetch(`${program.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'a-secret-question' }], ...more }),
  });
  await response.text();
  return response.status;
}

it('shows generations as they end, filtered, as text and as JSON', async () => {
  program = await startProgram(folder, env);
  const all = tail('--json');
  const failed = tail('--failed');
  const two = tail('--model', 'm/two', '--json');
  upstream.answer(chatAnswer({ text: 'Hello' }));
  // Each asks until its tail has begun.
  await expect
    .poll(
      async () => {
        await ask('m/one');
        await ask('m/two');
        return all.out() !== '' && two.out() !== '';
      },
      { interval: 200 },
    )
    .toBe(true);
  expect(failed.out()).toBe('');
  upstream.clear();
  upstream.answer(reply(401, { error: { message: `bad ${PROVIDER_KEY}`, code: 'invalid_api_key' } }));
  await expect
    .poll(
      async () => {
        await ask('m/one');
        return failed.out();
      },
      { interval: 200 },
    )
    .toMatch(
      /failed {4}gen-\d+-\w{16,} {2}m\/one at up\/main .* 502 upstream-unavailable .*up\/main 401 invalid_api_key \d+ ms "bad .+"/,
    );
  const lines = all
    .out()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.find(({ end }) => end === 'finished')).toMatchObject({
    model: expect.any(String),
    attempts: 1,
  });
  const keyHash = lines[0].key_hash as string;
  expect(keyHash).toMatch(/^[0-9a-f]{64}$/);
  for (const line of two.out().trim().split('\n')) expect(JSON.parse(line).model).toBe('m/two');
  const byKey = tail('--key', keyHash.slice(0, 12), '--json');
  const byOther = tail('--key', '0123456789abcdef', '--json');
  const bySession = tail('--session', 'session, 1', '--json');
  const byUser = tail('--user', 'user-2');
  await expect
    .poll(
      async () => {
        await ask('m/one');
        await ask('m/one', { session_id: 'session, 1', user: 'user-1' });
        await ask('m/two', { session_id: 'session', user: 'user-2' });
        return [byKey.out().includes(keyHash), bySession.out() !== '', byUser.out() !== ''];
      },
      { interval: 200 },
    )
    .toEqual([true, true, true]);
  expect(byOther.out()).toBe('');
  for (const line of bySession.out().trim().split('\n')) {
    expect(JSON.parse(line)).toMatchObject({ session_id: 'session, 1', external_user: 'user-1' });
  }
  expect(byUser.out()).toContain('m/two');
  expect(byUser.out()).not.toContain('m/one');
  for (const { child, out, err } of [all, failed, two, byKey, byOther, bySession, byUser]) {
    await expect
      .poll(err)
      .toBe('signalbox: connected to the gateway; generations are shown as they end (Ctrl-C stops)\n');
    expect(out() + err()).not.toMatch(/a-secret-question|key-of-the-provider|api-key-of-the-tail/);
    await killHard(child);
  }
  expect(program.stderr()).not.toMatch(/a-secret-question|key-of-the-provider|api-key-of-the-tail/);
});

it('refuses a key that is no hash, and says where no gateway runs', () => {
  expect(signalbox(folder, ['generations', 'tail', '--key', 'sk-x'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('--key: must be the hash of a key'),
  });
  expect(signalbox(folder, ['generations', 'tail', '--data-dir', join(folder, 'other')])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^signalbox: no gateway runs on the data directory .*other; start one/),
  });
});

it('a restart after a crash says what recovery has done, in numbers', async () => {
  upstream.clear();
  upstream.answer([() => new Promise(() => {})]);
  const waiting = ask('m/one').catch(() => 0);
  await upstream.request(0);
  await killHard(program.child);
  await waiting;
  program = await startProgram(folder, env);
  const line = program
    .stderr()
    .split('\n')
    .find((text) => text.includes('"message":"recovery"'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    level: 'info',
    settled: 0,
    released: 1,
    rebooked: expect.any(Number),
  });
});
