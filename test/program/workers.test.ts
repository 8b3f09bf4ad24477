import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { keysIn, type StartedProgram, startProgram, stopped } from '../e2e/started-program.ts';
import { chatAnswer } from '../fakes/answers.ts';
import { end, type FakeUpstream, head, openFakeUpstream, SSE, stall, write } from '../fakes/fake-upstream.ts';
import { PROGRAM, signalbox } from '../operator/program.ts';

/** Nano-dollars that one answer of the upstream costs: 10 tokens in, 10 out. */
const ANSWER_NANOS = 10n * 1000n + 10n * 2000n;

const configuration = (upstream: FakeUpstream, more = '') => `
providers:
  - slug: local
    name: Local
    dialect: openai-chat
    base_url: ${upstream.url}
    api_key: none
models:
  - id: local/one
    context_length: 8000
    endpoints:
      - provider: local
        max_output_tokens: 10
        pricing: { prompt: "0.000001", completion: "0.000002" }
${more}`;

/** A stream that pauses before its end. */
const slowAnswer = (milliseconds: number) => [
  head(200, SSE),
  write('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'),
  stall(milliseconds),
  write(
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],' +
      '"usage":{"prompt_tokens":10,"completion_tokens":10}}\n\ndata: [DONE]\n\n',
  ),
  end(),
];

/** `generations tail` at work. */
function openTail(folder: string): { readonly child: ChildProcess; lines(): readonly string[] } {
  const child = spawn(process.execPath, [PROGRAM, 'generations', 'tail', '--json'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.on('data', (piece) => {
    text += piece;
  });
  return { child, lines: () => text.split('\n').filter(Boolean) };
}

const sumOf = (figures: ReadonlyMap<string, number>, name: string): number =>
  [...figures].reduce((sum, [each, value]) => (each.startsWith(`${name}{`) ? sum + value : sum), 0);

/** Processes of a gateway besides the one that was started. */
function workersOf({ child }: Pick<StartedProgram, 'child'>): number[] {
  const tasks = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  return tasks.trim().split(' ').filter(Boolean).map(Number);
}

describe.skipIf(process.platform !== 'linux')('a gateway with two workers', () => {
  let folder: string;
  let upstream: FakeUpstream;
  let program: StartedProgram;
  let management: string;
  let key: string;

  const start = async () => {
    program = await startProgram(folder, {}, ['--workers', '2']);
    return program;
  };

  /** A JSON request over a connection of its own, so that any worker may get it. */
  const call = (method: string, path: string, secret: string, body?: unknown) =>
    new Promise<{ readonly status: number; readonly json: any }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const request = send(`${program.url}${path}`, { method, headers, agent: new Agent() }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, json: text.startsWith('{') ? JSON.parse(text) : text });
        });
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });

  const ask = (secret = key) =>
    call('POST', '/chat/completions', secret, {
      model: 'local/one',
      messages: [{ role: 'user', content: 'Hello' }],
    });

  /** Figures of `/metrics` by name and labels. */
  const metrics = async (): Promise<Map<string, number>> => {
    const url = new URL('/metrics', program.url);
    const text = await (await fetch(url, { headers: { authorization: `Bearer ${management}` } })).text();
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  };

  /** True if the whole stream came; rejects or false if its connection was cut. */
  const streamed = async (): Promise<boolean> => {
    const answer = await fetch(`${program.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({
        model: 'local/one',
        stream: true,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    });
    return (await answer.text()).includes('[DONE]');
  };

  const inFlight = (count: number) =>
    vi.waitFor(async () => expect((await metrics()).get('signalbox_generations_in_flight')).toBe(count), {
      timeout: 30_000,
    });

  const workersServing = (count: number) =>
    vi.waitFor(async () => expect((await metrics()).get('signalbox_workers')).toBe(count), {
      timeout: 30_000,
      interval: 50,
    });

  const verified = () =>
    JSON.parse(signalbox(folder, ['ledger', 'verify', '--json']).out) as {
      accounts: { difference_nanos: number | string; settled_nanos: number | string }[];
      open_reservations: number;
      generations: number;
    };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-workers-'));
    upstream = await openFakeUpstream();
    upstream.answer(chatAnswer({ text: 'Hi', usage: { input: 10, output: 10 } }));
    writeFileSync(join(folder, 'signalbox.yaml'), configuration(upstream));
    await start();
    await vi.waitFor(() => expect(keysIn(program.stdout()).length).toBeGreaterThan(1));
    [management = '', key = ''] = keysIn(program.stdout());
  });

  afterAll(async () => {
    await stopped(program.child, 'SIGKILL');
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('answers an official client at both workers, and prints its first keys once', async () => {
    expect(workersOf(program)).toHaveLength(2);
    expect(program.stdout().match(/Management key/g)).toHaveLength(1);
    const asked = Array.from({ length: 24 }, async () => {
      const client = new OpenAI({ baseURL: program.url, apiKey: key, maxRetries: 0 });
      const answer = await client.chat.completions.create({
        model: 'local/one',
        messages: [{ role: 'user', content: 'Hello' }],
      });
      return answer.choices[0]?.message.content;
    });
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['Hi']));
    // One worker may accept many connections that come together.
    await vi.waitFor(
      async () => {
        await Promise.all(Array.from({ length: 8 }, () => ask()));
        const workers = program.stderr().matchAll(/"message":"generation","worker":(\d)/g);
        expect(new Set([...workers].map(([, worker]) => worker)).size).toBe(2);
      },
      { timeout: 20_000 },
    );
  });

  it('counts all requests of both workers in /metrics, whichever answers', async () => {
    const name = 'signalbox_http_requests_total{operation="createChatCompletion",status="200"}';
    const before = (await metrics()).get(name) ?? 0;
    await Promise.all(Array.from({ length: 10 }, () => ask()));
    for (let index = 0; index < 3; index++) expect((await metrics()).get(name)).toBe(before + 10);
  });

  it('holds the limit of a key to the nano-dollar over racing requests at both workers', async () => {
    const made = await call('POST', '/keys', management, { name: 'limited', limit: 0.001 });
    const outcomes = await Promise.all(Array.from({ length: 150 }, () => ask(made.json.key)));
    const statuses = new Set(outcomes.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 402]);
    const served = outcomes.filter(({ status }) => status === 200).length;
    const { json } = await call('GET', '/key', made.json.key);
    const spentNanos = BigInt(Math.round(json.data.usage * 1e9));
    expect(spentNanos).toBe(BigInt(served) * ANSWER_NANOS);
    expect(spentNanos).toBeLessThanOrEqual(1_000_000n);
  });

  it('refuses a revoked key at every worker as soon as it is revoked', async () => {
    const made = await call('POST', '/keys', management, { name: 'revoked' });
    const before = await Promise.all(Array.from({ length: 16 }, () => ask(made.json.key)));
    expect(new Set(before.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await call('DELETE', `/keys/${made.json.data.hash}`, management)).status).toBe(200);
    const after = await Promise.all(Array.from({ length: 16 }, () => ask(made.json.key)));
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([401]));
  });

  it('serves a new configuration at every worker after a reload', async () => {
    writeFileSync(
      join(folder, 'signalbox.yaml'),
      configuration(
        upstream,
        'limits: { max_concurrent_requests: 500 }\npresets: { brief: { model: local/one } }\n',
      ),
    );
    program.child.kill('SIGHUP');
    const preset = { model: '@preset/brief', messages: [{ role: 'user', content: 'Hello' }] };
    await vi.waitFor(
      async () => {
        const answers = Array.from({ length: 8 }, () => call('POST', '/chat/completions', key, preset));
        const statuses = (await Promise.all(answers)).map(({ status }) => status);
        expect(new Set(statuses)).toEqual(new Set([200]));
      },
      { timeout: 20_000 },
    );
  });

  it('shows ended generations of all workers to `generations tail`', async () => {
    const tail = openTail(folder);
    try {
      await vi.waitFor(
        async () => {
          await ask();
          expect(tail.lines().length).toBeGreaterThan(3);
        },
        { timeout: 20_000, interval: 20 },
      );
    } finally {
      tail.child.kill('SIGKILL');
    }
  });

  it('replaces a killed worker, settles what it left open, and disturbs no other', async () => {
    const before = await metrics();
    upstream.clear();
    upstream.answer(slowAnswer(3_000));
    // One worker may have accepted all streams: then killing the other ends none.
    const whole: number[] = [];
    while (whole.length < 8 && !(whole.some((count) => count > 0) && whole.some((count) => count < 12))) {
      const streams = Array.from({ length: 12 }, () => streamed());
      await inFlight(12);
      const victim = workersOf(program)[whole.length % 2] ?? 0;
      process.kill(victim, 'SIGKILL');
      const ended = await Promise.allSettled(streams);
      whole.push(ended.filter((each) => each.status === 'fulfilled' && each.value).length);
      await workersServing(2);
    }
    expect(Math.max(...whole)).toBeGreaterThan(0);
    expect(Math.min(...whole)).toBeLessThan(12);
    upstream.clear();
    upstream.answer(chatAnswer({ text: 'Hi', usage: { input: 10, output: 10 } }));
    expect((await ask()).status).toBe(200);
    const after = await metrics();
    expect(after.get('signalbox_workers_replaced_total')).toBe(whole.length);
    expect(after.get('signalbox_open_reservations')).toBe(0);
    expect(after.get('signalbox_reservations_reconciled_total')).toBe(0);
    expect(sumOf(after, 'signalbox_generations_total')).toBeGreaterThanOrEqual(
      sumOf(before, 'signalbox_generations_total'),
    );
    const { accounts, open_reservations } = verified();
    expect(open_reservations).toBe(0);
    for (const { difference_nanos } of accounts) expect(Number(difference_nanos)).toBe(0);
  });

  it('ends all workers with the owner, and recovers as from a crash', async () => {
    upstream.clear();
    upstream.answer(chatAnswer({ text: 'Hi', usage: { input: 10, output: 10 } }));
    const workers = workersOf(program);
    await stopped(program.child, 'SIGKILL');
    await vi.waitFor(
      () => {
        for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow();
      },
      { timeout: 10_000 },
    );
    const before = verified();
    await start();
    expect(verified()).toMatchObject({ generations: before.generations, open_reservations: 0 });
    expect((await ask()).status).toBe(200);
  });

  it('finishes the streams of all workers after SIGTERM, and exits with 0', async () => {
    upstream.clear();
    upstream.answer(slowAnswer(1_000));
    const streams = Array.from({ length: 8 }, () => streamed());
    await inFlight(8);
    const workers = workersOf(program);
    const exit = stopped(program.child, 'SIGTERM');
    expect(await Promise.all(streams)).toEqual(new Array(8).fill(true));
    expect(await exit).toBe(0);
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow();
  });
});
