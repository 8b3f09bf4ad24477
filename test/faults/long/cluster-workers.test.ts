import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { killAndCompare } from '../killed-gateway.ts';

/** Times that the owner is killed; in each of its lives a worker is killed every second or so. */
const LIVES = Number(process.env.KILLED_LIVES ?? 50);

const MAX_LIFE_MS = 6_000;

/** Kills one worker after the other, at random moments. */
async function killWorkers(owner: ChildProcess, forMs: number): Promise<readonly number[]> {
  const killedAt: number[] = [];
  const endsAt = performance.now() + forMs;
  for (;;) {
    await delay(500 + Math.random() * 1_000);
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
