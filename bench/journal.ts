import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Durability, Journal } from '../src/ports/money/journal.ts';
import { openJournal } from '../src/store/journal/open-journal.ts';

/**
 * What an append costs when appends come at a steady rate, how many a second there are at most, and how fast a
 * journal is read back. `node scripts/bench.mjs journal [DIRECTORY]`: the directory says which disk is measured.
 */

const RECORD = Buffer.alloc(400, '{"kind":"settle","generation":"gen-0123456789"}');
const SECONDS = 8;
const BURST = 200_000;
/** How many of a burst wait at a time. */
const BURST_WIDTH = 2000;

const directory = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'signalbox-bench-'));
try {
  const { journal } = await openJournal({ directory, replay() {} });
  console.log(`records of ${RECORD.length} bytes, ${SECONDS} s each`);
  for (const [rate, durability] of [
    [500, 'power'],
    [2000, 'power'],
    [2000, 'process'],
  ] as const) {
    const waits = await appendSteadily(journal, rate, durability);
    console.log(`${rate}/s, ${durability}: ${summaryOf(waits)}`);
  }
  await appendBurst(journal);
  await journal.close();
  await readBack();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Appends every millisecond what is due by then, whether or not those before are done; milliseconds that each took. */
async function appendSteadily(journal: Journal, rate: number, durability: Durability): Promise<number[]> {
  const waits: number[] = [];
  const appends: Promise<void>[] = [];
  const end = performance.now() + SECONDS * 1000;
  for (let due = performance.now(); due < end; due += (-Math.log(1 - Math.random()) * 1000) / rate) {
    while (performance.now() < due) await delay(1);
    const begin = performance.now();
    appends.push(journal.append(RECORD, durability).then(() => void waits.push(performance.now() - begin)));
  }
  await Promise.all(appends);
  return waits;
}

async function appendBurst(journal: Journal): Promise<void> {
  const begin = performance.now();
  let left = BURST;
  const appendOn = async () => {
    while (left-- > 0) await journal.append(RECORD, 'power');
  };
  await Promise.all(Array.from({ length: BURST_WIDTH }, appendOn));
  const seconds = (performance.now() - begin) / 1000;
  console.log(`burst of ${BURST}, ${BURST_WIDTH} waiting, power: ${Math.round(BURST / seconds)}/s`);
}

async function readBack(): Promise<void> {
  let bytes = 0;
  const begin = performance.now();
  const { journal } = await openJournal({ directory, replay: ({ record }) => (bytes += record.length) });
  const milliseconds = performance.now() - begin;
  await journal.close();
  console.log(`opened with ${Math.round(bytes / 1e6)} MB of records in ${Math.round(milliseconds)} ms`);
}

function summaryOf(waits: number[]): string {
  waits.sort((one, other) => one - other);
  const at = (share: number) => (waits[Math.floor(share * (waits.length - 1))] ?? 0).toFixed(2);
  return `${waits.length} appends, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
}
