import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/store/journal/open-journal.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { compiled, killHard } from '../../kit/program.ts';

const ROUNDS = 5;

/** Appends numbered records from 20 places at once and prints the number of each that was acknowledged. */
const APPENDER = `
  import { writeSync } from 'node:fs';
  import { openJournal } from ${JSON.stringify(compiled('store/journal/open-journal.js'))};
  const [directory, first] = process.argv.slice(1);
  const { journal } = await openJournal({ directory, segmentBytes: 20_000, reservedBytes: 10_000, replay() {} });
  let next = Number(first);
  async function appendOn(durability) {
    for (;;) {
      const id = next++;
      await journal.append(Buffer.from(JSON.stringify({ id, filling: 'x'.repeat((id * 37) % 900) })), durability);
      writeSync(1, id + '\\n');
    }
  }
  for (let each = 0; each < 20; each++) void appendOn(each % 2 ? 'power' : 'process');
`;

describe('a journal whose process is killed', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;

  beforeEach(() => {
    temporary = temporaryDirectory();
  });

  afterEach(() => temporary.remove());

  it('has every acknowledged record, once and in order', async () => {
    const acknowledged: number[] = [];
    let next = 0;
    for (let round = 0; round < ROUNDS; round++) {
      acknowledged.push(...(await appendUntilKilled(temporary.path, next)));
      const there = await idsIn(temporary.path);
      expect(there).toEqual([...new Set(there)].sort((one, other) => one - other));
      const present = new Set(there);
      expect(acknowledged.filter((id) => !present.has(id))).toEqual([]);
      next = Math.max(...there) + 1;
    }
    expect(acknowledged.length).toBeGreaterThan(ROUNDS * 20);
  });
});

async function appendUntilKilled(directory: string, first: number): Promise<number[]> {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', APPENDER, '--', directory, String(first)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const printed: Buffer[] = [];
  const ended = new Promise((resolve) => child.stdout.once('end', resolve));
  child.stdout.on('data', (bytes) => printed.push(bytes));
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', () => reject(new Error('the appender ended by itself')));
  });
  await delay(Math.random() * 200);
  await killHard(child);
  await ended;
  const lines = Buffer.concat(printed).toString().split('\n');
  // The last line may be cut.
  return lines.slice(0, -1).map(Number);
}

async function idsIn(directory: string): Promise<number[]> {
  const ids: number[] = [];
  const { journal } = await openJournal({
    directory,
    reservedBytes: 10_000,
    replay: ({ record }) => {
      const { id, filling } = JSON.parse(Buffer.from(record).toString());
      expect(filling).toHaveLength((id * 37) % 900);
      ids.push(id);
    },
  });
  await journal.close();
  return ids;
}
