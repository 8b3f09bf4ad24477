import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { PROGRAM } from '../../kit/program.ts';
import { countedIn, type Lives, openLives } from './gateway-lives.ts';
import { recordedAnswers } from './recorded-answers.ts';

/** Requests a second while the backup is made. */
const PER_SECOND = 100;

/** Answers before the first backup. */
const MIN_ANSWERS = 20;

const runFile = promisify(execFile);

/** Runs a command beside the load; a command that blocks this process would stop the upstream. */
async function command({ folder }: Lives, ...words: string[]): Promise<any> {
  const { stdout } = await runFile(process.execPath, [PROGRAM, ...words, '--json'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout);
}

/**
 * The worst hour: backs a gateway up under load, kills it, backs up what is left, restores both elsewhere and
 * compares them with what callers saw and with the books of the original.
 */
export async function drill(forMs: number, backups: number): Promise<void> {
  const lives = await openLives();
  try {
    const made: { readonly directory: string; readonly before: readonly string[] }[] = [];
    await lives.live(PER_SECOND, forMs, async () => {
      for (let index = 0; index < backups; index++) {
        await delay(forMs / (backups + 1));
        while (lives.acknowledged.length < MIN_ANSWERS) await delay(50);
        const before = lives.acknowledged.map(({ user }) => user);
        const directory = join(lives.folder, `running-${index}`);
        await command(lives, 'backup', directory);
        made.push({ directory, before });
      }
    });
    const dead = join(lives.folder, 'dead');
    await command(lives, 'backup', dead);
    made.push({ directory: dead, before: lives.acknowledged.map(({ user }) => user) });
    const restored: unknown[] = [];
    for (const { directory, before } of made) {
      const dataDir = `${directory}-restored`;
      const { ledger } = await command(lives, 'restore', directory, '--data-dir', dataDir);
      restored.push(withoutJournal(ledger));
      expect(ledger).toMatchObject({
        open_reservations: 0,
        accounts: [{ fault: null, difference_nanos: 0 }],
      });
      const recorded = recordedAnswers(dataDir);
      const users = new Set(recorded.map(({ user }) => user));
      expect(before.filter((user) => !users.has(user))).toEqual([]);
      const charged = recorded.reduce((sum, { creditNanos }) => sum + creditNanos, 0n);
      expect(await countedIn(dataDir)).toEqual([
        { settledNanos: charged, events: { requests: BigInt(recorded.length), creditNanos: charged } },
      ]);
    }
    expect(restored.at(-1)).toEqual(withoutJournal(await command(lives, 'ledger', 'verify')));
  } finally {
    await lives.close();
  }
}

/** The segments of a restored journal may be fewer or more; its books are the same. */
function withoutJournal({ journal: _, ...ledger }: Record<string, unknown>): unknown {
  return ledger;
}
