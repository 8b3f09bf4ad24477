import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogQuery } from '../src/ports/events.ts';
import { DuckdbEventStore } from '../src/store/events/duckdb/duckdb-event-store.ts';
import { eventHistory, HISTORY_START_MS } from '../test/builders/event-history.ts';
import { writeFilledBundle } from '../test/builders/filled-bundle.ts';
import { logFilterOf } from '../test/builders/log-filter.ts';

/** How long pages and counts of the log take. `node scripts/bench.mjs log [MILLIONS]`. */

const MILLION = 1_000_000;
const DAYS = 30;
const DAY_MS = 86_400_000;
const ROUNDS = 5;

const count = Number(process.argv[2] ?? 1) * MILLION;
const directory = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
const events = new DuckdbEventStore(join(directory, 'events.duckdb'));
const endMs = HISTORY_START_MS + DAYS * DAY_MS;

const ALL = logFilterOf({ accountId: 'account-0', fromMs: HISTORY_START_MS, toMs: endMs });
const ORDER = { sort: 'arrival', order: 'desc' } as const;
const lastDay = { fromMs: endMs - DAY_MS };
const middle = { value: BigInt(HISTORY_START_MS + (DAYS / 2) * DAY_MS), id: '' };

try {
  await fill();
  const { events: stored, bytes } = await events.sizes();
  console.log(`${stored} events in ${Math.round(bytes / MILLION)} MB`);
  await page('first page, last day', lastDay);
  await page('first page, all', {});
  await page('page from the middle', { after: middle });
  await page('failed ones', { states: ['failed'] });
  await page('one model, slower than 29 s', { models: ['acme/model-3'], minDurationMs: 29_000 });
  await page('a session', { search: 'session-4000' });
  await page('an id that is not there', { search: 'gen-of-nobody' });
  await page('new since a moment ago', { endedFromMs: endMs - 10_000 });
  await page('1,000 rows', { limit: 1_000 });
  await page('longest of the last day', { ...lastDay, sort: 'duration' });
  await page('longest of all', { sort: 'duration' });
  await page('longest of a key', { sort: 'duration', keys: ['key-0'] });
  await timed('counts of all', () => events.logCounts(ALL, DAY_MS / 4));
  await timed('counts of failed ones', () => events.logCounts({ ...ALL, states: ['failed'] }, DAY_MS / 4));
  await exported();
} finally {
  await events.close();
  rmSync(directory, { recursive: true });
}

async function fill(): Promise<void> {
  const file = join(directory, 'bundle.duckdb');
  await writeFilledBundle(file, eventHistory(count, DAYS));
  await events.addBundle({ file });
}

async function page(title: string, change: Partial<LogQuery>): Promise<void> {
  await timed(title, () => events.log({ ...ALL, ...ORDER, after: null, limit: 100, ...change }));
}

async function timed(title: string, ask: () => Promise<unknown>): Promise<void> {
  const took: number[] = [];
  let rows = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const startedMs = performance.now();
    const answer = await ask();
    took.push(performance.now() - startedMs);
    rows = Array.isArray(answer) ? answer.length : 0;
  }
  took.sort((a, b) => a - b);
  console.log(
    `${title}: ${took[Math.floor(ROUNDS / 2)]?.toFixed(0)} ms, longest ${took.at(-1)?.toFixed(0)} ms, ${rows} rows`,
  );
}

/** The pages of an export, without writing them. */
async function exported(): Promise<void> {
  const startedMs = performance.now();
  let rows = 0;
  let after: LogQuery['after'] = null;
  for (;;) {
    const read = await events.log({ ...ALL, ...ORDER, after, limit: 5_000 });
    rows += read.length;
    const last = read.at(-1);
    if (last === undefined || performance.now() - startedMs > 20_000) break;
    after = { value: BigInt(last.createdAtMs), id: last.id };
  }
  console.log(`export: ${Math.round(rows / ((performance.now() - startedMs) / 1_000))} rows/s`);
}
