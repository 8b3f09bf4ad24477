import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { PROGRAM, signalbox } from '../../kit/program.ts';
import { stopped } from '../../kit/started-program.ts';
import { slowAnswer, TwoWorkers } from './two-workers.ts';

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

/** What the owner hears from its workers is there by then. */
const SOON = { timeout: 20_000, interval: 250 };

const sumOf = (figures: ReadonlyMap<string, number>, name: string): number =>
  [...figures].reduce((sum, [each, value]) => (each.startsWith(`${name}{`) ? sum + value : sum), 0);

describe.skipIf(process.platform !== 'linux')('a gateway with two workers', () => {
  let upstream: FakeUpstream;
  let gateway: TwoWorkers;

  const verified = () =>
    JSON.parse(signalbox(gateway.folder, ['ledger', 'verify', '--json']).out) as {
      accounts: { difference_nanos: number | string; settled_nanos: number | string }[];
      open_reservations: number;
      generations: number;
    };

  /** The uptime of the endpoint of `local/one`, once the database has answered in time. */
  const uptime = () =>
    vi.waitFor(async () => {
      const path = '/gateway/endpoints?model=local/one';
      const [endpoint] = (await gateway.call('GET', path, gateway.management)).json.data;
      expect(endpoint.uptime).not.toBeNull();
      return endpoint.uptime;
    }, SOON);

  beforeAll(async () => {
    upstream = await openFakeUpstream();
    upstream.answer(chatAnswer({ text: 'Hi', usage: { input: 10, output: 10 } }));
    gateway = await TwoWorkers.open(configuration(upstream));
  });

  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  it('answers an official client at both workers, and prints its first keys once', async () => {
    expect(gateway.workers()).toHaveLength(2);
    expect(gateway.program.stdout().match(/Management key/g)).toHaveLength(1);
    const asked = Array.from({ length: 24 }, async () => {
      const client = new OpenAI({ baseURL: gateway.program.url, apiKey: gateway.key, maxRetries: 0 });
      const answer = await client.chat.completions.create({
        model: 'local/one',
        messages: [{ role: 'user', content: 'Hello' }],
      });
      return answer.choices[0]?.message.content;
    });
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['Hi']));
    expect(await gateway.statusesOfBoth(() => gateway.ask())).toEqual([200]);
  });

  it('counts all requests of both workers in /metrics, whichever answers', async () => {
    const name = 'signalbox_http_requests_total{operation="createChatCompletion",status="200"}';
    const before = (await gateway.metrics()).get(name) ?? 0;
    await Promise.all(Array.from({ length: 10 }, () => gateway.ask()));
    for (let index = 0; index < 3; index++) expect((await gateway.metrics()).get(name)).toBe(before + 10);
  });

  it('counts the calls of both workers for the uptime of their endpoint', async () => {
    await vi.waitFor(async () => expect((await uptime()).last_1d.calls).toBe(upstream.requests.length), SOON);
    expect((await uptime()).last_30d.percent).toBe(100);
  });

  it('says when a key was last used, whichever worker was asked', async () => {
    const made = await gateway.call('POST', '/keys', gateway.management, { name: 'used once' });
    const lastUsed = async () => {
      const path = '/keys?search=used%20once&include_last_used=true';
      return (await gateway.call('GET', path, gateway.management)).json.data[0].last_used_at;
    };
    expect(await lastUsed()).toBeNull();
    const sentAtMs = Date.now();
    expect((await gateway.ask(made.json.key)).status).toBe(200);
    await vi.waitFor(
      async () => expect(Date.parse(await lastUsed())).toBeGreaterThan(sentAtMs - 1_000),
      SOON,
    );
  });

  it('holds the limit of a key to the nano-dollar over racing requests at both workers', async () => {
    const made = await gateway.call('POST', '/keys', gateway.management, { name: 'limited', limit: 0.001 });
    const outcomes = await Promise.all(Array.from({ length: 150 }, () => gateway.ask(made.json.key)));
    const statuses = new Set(outcomes.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 402]);
    const served = outcomes.filter(({ status }) => status === 200).length;
    const { json } = await gateway.call('GET', '/key', made.json.key);
    const spentNanos = BigInt(Math.round(json.data.usage * 1e9));
    expect(spentNanos).toBe(BigInt(served) * ANSWER_NANOS);
    expect(spentNanos).toBeLessThanOrEqual(1_000_000n);
  });

  it('refuses a revoked key at every worker as soon as it is revoked', async () => {
    const made = await gateway.call('POST', '/keys', gateway.management, { name: 'revoked' });
    const before = await Promise.all(Array.from({ length: 16 }, () => gateway.ask(made.json.key)));
    expect(new Set(before.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await gateway.call('DELETE', `/keys/${made.json.data.hash}`, gateway.management)).status).toBe(
      200,
    );
    const after = await Promise.all(Array.from({ length: 16 }, () => gateway.ask(made.json.key)));
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([401]));
  });

  it('serves a new configuration at every worker after a reload', async () => {
    gateway.reload(
      configuration(
        upstream,
        'limits: { max_concurrent_requests: 500 }\npresets: { brief: { model: local/one } }\n',
      ),
    );
    const preset = { model: '@preset/brief', messages: [{ role: 'user', content: 'Hello' }] };
    await vi.waitFor(
      async () => {
        const answers = Array.from({ length: 8 }, () =>
          gateway.call('POST', '/chat/completions', gateway.key, preset),
        );
        const statuses = (await Promise.all(answers)).map(({ status }) => status);
        expect(new Set(statuses)).toEqual(new Set([200]));
      },
      { timeout: 20_000 },
    );
  });

  it('shows ended generations of all workers to `generations tail`', async () => {
    const tail = openTail(gateway.folder);
    try {
      await vi.waitFor(
        async () => {
          await gateway.ask();
          expect(tail.lines().length).toBeGreaterThan(3);
        },
        { timeout: 20_000, interval: 20 },
      );
    } finally {
      tail.child.kill('SIGKILL');
    }
  });

  it('replaces a killed worker, settles what it left open, and disturbs no other', async () => {
    const before = await gateway.metrics();
    upstream.clear();
    upstream.answer(slowAnswer(3_000));
    // One worker may have accepted all streams: then killing the other ends none.
    const whole: number[] = [];
    while (whole.length < 8 && !(whole.some((count) => count > 0) && whole.some((count) => count < 12))) {
      const streams = Array.from({ length: 12 }, () => gateway.streamed());
      await gateway.until('signalbox_generations_in_flight', 12);
      const victim = gateway.workers()[whole.length % 2] ?? 0;
      process.kill(victim, 'SIGKILL');
      const ended = await Promise.allSettled(streams);
      whole.push(ended.filter((each) => each.status === 'fulfilled' && each.value).length);
      await gateway.until('signalbox_workers', 2);
    }
    expect(Math.max(...whole)).toBeGreaterThan(0);
    expect(Math.min(...whole)).toBeLessThan(12);
    upstream.clear();
    upstream.answer(chatAnswer({ text: 'Hi', usage: { input: 10, output: 10 } }));
    expect((await gateway.ask()).status).toBe(200);
    const after = await gateway.metrics();
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

  it('lets no request reach a worker that cannot serve yet', async () => {
    const statuses = new Set<number>();
    const replaced = (await gateway.metrics()).get('signalbox_workers_replaced_total') ?? 0;
    process.kill(gateway.workers()[0] ?? 0, 'SIGKILL');
    const isReplaced = async () => {
      // The connection may be one of the killed worker.
      const figures = await gateway.metrics().catch(() => new Map<string, number>());
      const count = figures.get('signalbox_workers_replaced_total') ?? 0;
      return count > replaced && figures.get('signalbox_workers') === 2;
    };
    do {
      // A connection that the killed worker had accepted is reset.
      const asked = await Promise.allSettled(Array.from({ length: 8 }, () => gateway.ask()));
      for (const each of asked) if (each.status === 'fulfilled') statuses.add(each.value.status);
    } while (!(await isReplaced()));
    expect([...statuses]).toEqual([200]);
  });

  it('goes on with one worker while the system starts no other, and replaces it when it does', async () => {
    const owner = gateway.program.child.pid ?? 0;
    const limited = (files: string) =>
      spawnSync('prlimit', ['--pid', String(owner), `--nofile=${files}:`]).status;
    const [victim = 0] = gateway.workers();
    expect(limited('8')).toBe(0);
    process.kill(victim, 'SIGKILL');
    await vi.waitFor(() => expect(gateway.program.stderr()).toContain('no process could be started'), {
      timeout: 20_000,
    });
    expect(limited('4096')).toBe(0);
    await gateway.until('signalbox_workers', 2);
    expect((await gateway.ask()).status).toBe(200);
  });

  it('ends all workers with the owner, and recovers as from a crash', async () => {
    upstream.clear();
    upstream.answer(chatAnswer({ text: 'Hi', usage: { input: 10, output: 10 } }));
    const workers = gateway.workers();
    await stopped(gateway.program.child, 'SIGKILL');
    await vi.waitFor(
      () => {
        for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow();
      },
      { timeout: 10_000 },
    );
    const before = verified();
    await gateway.startAgain();
    expect(verified()).toMatchObject({ generations: before.generations, open_reservations: 0 });
    expect((await gateway.ask()).status).toBe(200);
  });

  it('finishes the streams of all workers after SIGTERM, and exits with 0', async () => {
    const { calls } = (await uptime()).last_1d;
    upstream.clear();
    upstream.answer(slowAnswer(1_000));
    const streams = Array.from({ length: 8 }, () => gateway.streamed());
    await gateway.until('signalbox_generations_in_flight', 8);
    const workers = gateway.workers();
    const exit = stopped(gateway.program.child, 'SIGTERM');
    expect(await Promise.all(streams)).toEqual(new Array(8).fill(true));
    expect(await exit).toBe(0);
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow();
    // The next run has the calls of all workers up to their last. The owner may not have heard of the one before.
    await gateway.startAgain();
    expect([8, 9]).toContain((await uptime()).last_1d.calls - calls);
  });
});
