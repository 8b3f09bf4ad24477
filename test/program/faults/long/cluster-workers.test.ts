import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { chatAnswer } from '../../../kit/fakes/answers.ts';
import { openFakeUpstream } from '../../../kit/fakes/fake-upstream.ts';
import { TwoWorkers } from '../../process/two-workers.ts';
import { killAndCompare } from '../killed-gateway.ts';

/** Times that the owner is killed; in each of its lives a worker is killed every two seconds or so. */
const LIVES = Number(process.env.KILLED_LIVES ?? 50);

const MAX_LIFE_MS = 6_000;

/** Kills one worker after the other, at random moments. */
async function killWorkers(owner: ChildProcess, forMs: number): Promise<readonly number[]> {
  const killedAt: number[] = [];
  const endsAt = performance.now() + forMs;
  for (;;) {
    await delay(500 + Math.random() * 3_000);
    if (performance.now() >= endsAt) return killedAt;
    const tasks = readFileSync(`/proc/${owner.pid}/task/${owner.pid}/children`, 'utf8').trim();
    const workers = tasks.split(' ').filter(Boolean).map(Number);
    const victim = workers[Math.floor(Math.random() * workers.length)];
    if (victim === undefined) continue;
    process.kill(victim, 'SIGKILL');
    killedAt.push(performance.now());
  }
}

it.skipIf(process.platform !== 'linux')(
  `keeps the promise with two workers, while workers are killed in ${LIVES} lives of the owner`,
  async () => {
    let workersKilled = 0;
    await killAndCompare(LIVES, {
      flags: ['--workers', '2'],
      maxLifeMs: MAX_LIFE_MS,
      meanwhile: async (owner, forMs) => {
        const killedAt = await killWorkers(owner, forMs);
        workersKilled += killedAt.length;
        return killedAt;
      },
    });
    expect(workersKilled).toBeGreaterThan(LIVES / 2);
    console.log(`${workersKilled} workers were killed`);
  },
  60_000 + LIVES * 30_000,
);

const RACERS = 600;

/** Answers after which a worker is killed. */
const ANSWERS_BEFORE_KILL = 50;

/** Nano-dollars that one answer costs: 10 tokens in, 10 out. */
const ANSWER_NANOS = 30_000;

/** Answers that the limit of the racing key pays for. */
const PAID_ANSWERS = 300;

const configuration = (url: string) =>
  JSON.stringify({
    providers: [{ slug: 'local', dialect: 'openai-chat', base_url: url, api_key: 'none' }],
    models: [
      {
        id: 'local/one',
        context_length: 8000,
        endpoints: [
          {
            provider: 'local',
            max_output_tokens: 10,
            pricing: { prompt: '0.000001', completion: '0.000002' },
          },
        ],
      },
    ],
  });

it.skipIf(process.platform !== 'linux')(
  `overspends nothing in ${RACERS} racing requests over two workers of which one is killed`,
  async () => {
    const upstream = await openFakeUpstream();
    upstream.answer(chatAnswer({ text: 'Hi', usage: { input: 10, output: 10 } }));
    const gateway = await TwoWorkers.open(configuration(upstream.url));
    try {
      const limit = (PAID_ANSWERS * ANSWER_NANOS) / 1e9;
      const { json } = await gateway.call('POST', '/keys', gateway.management, { name: 'raced', limit });
      let answered = 0;
      const racing = Array.from({ length: RACERS }, async () => {
        const { status } = await gateway.ask(json.key);
        if (++answered === ANSWERS_BEFORE_KILL) process.kill(gateway.workers()[0] ?? 0, 'SIGKILL');
        return status;
      });
      const outcomes = await Promise.allSettled(racing);
      const statuses = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      for (const status of statuses) expect([200, 402, 503]).toContain(status);
      await gateway.until('signalbox_workers', 2);
      await gateway.until('signalbox_open_reservations', 0);
      const key = await gateway.call('GET', '/key', json.key);
      const spentNanos = Math.round(key.json.data.usage * 1e9);
      const served = statuses.filter((status) => status === 200).length;
      const cutOff = RACERS - statuses.length;
      console.log(`${served} answered, ${cutOff} cut off, ${statuses.length - served} refused`);
      expect(served).toBeGreaterThan(ANSWERS_BEFORE_KILL / 2);
      expect(spentNanos).toBeGreaterThanOrEqual(served * ANSWER_NANOS);
      expect(spentNanos).toBeLessThanOrEqual(Math.min(PAID_ANSWERS, served + cutOff) * ANSWER_NANOS);
    } finally {
      await gateway.close();
      await upstream.close();
    }
  },
  120_000,
);
