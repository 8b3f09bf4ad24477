import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { EventQuery, GenerationEvent } from '../src/ports/events.ts';
import { DuckdbEventStore } from '../src/store/events/duckdb-event-store.ts';
import { eventHistory, HISTORY_START_MS } from '../test/builders/event-history.ts';

/**
 * How fast events are taken in, how long that holds up the loop, and how long they take to be counted.
 * `node scripts/bench.mjs events [MILLIONS [DIRECTORY]]`: the directory says which disk is measured.
 */

const DAYS = 365;
const BATCH = 10_000;
const ROUNDS = 7;
const MILLION = 1_000_000;
const DAY_MS = 86_400_000;

const count = Number(process.argv[2] ?? 1) * MILLION;
const directory = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'signalbox-bench-'));
const events = new DuckdbEventStore(join(directory, 'events.duckdb'));

const byDayAndModel: EventQuery = {
  accountId: null,
  metrics: ['request_count', 'tokens_total', 'total_usage'],
  dimensions: ['model'],
  granularity: 'day',
  startMs: HISTORY_START_MS,
  endMs: HISTORY_START_MS + DAYS * DAY_MS,
  filters: [],
  order: null,
  limit: 10_000,
  groupLimit: null,
};

try {
  await events.sizes();
  console.log(`idle with the store open: ${memory()} of memory`);
  await takeIn();
  const { bytes, dailyRows } = await events.sizes();
  console.log(
    `${(bytes / MILLION).toFixed(0)} MB on disk, ${dailyRows} rows of daily sums, ${memory()} of memory`,
  );
  console.log(`by day and model, from daily sums: ${await medianOf(byDayAndModel)}`);
  const ofEvents = { ...byDayAndModel, startMs: HISTORY_START_MS + 1 };
  console.log(`by day and model, from events: ${await medianOf(ofEvents)}`);
  console.log(`the same with p99 of latency: ${await medianOf({ ...ofEvents, metrics: ['p99_latency'] })}`);
  await events.prune(HISTORY_START_MS);
  console.log(`compacted: ${(await events.sizes()).dailyRows} rows of daily sums`);
  console.log(`by day and model, from daily sums: ${await medianOf(byDayAndModel)}`);
} finally {
  await events.close();
  rmSync(directory, { recursive: true, force: true });
}

/** Making the events is not part of the time. */
async function takeIn(): Promise<void> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  let batch: GenerationEvent[] = [];
  let milliseconds = 0;
  const flush = async () => {
    delays.enable();
    const begin = performance.now();
    await events.append(batch);
    milliseconds += performance.now() - begin;
    delays.disable();
    batch = [];
  };
  for (const event of eventHistory(count, DAYS)) {
    batch.push(event);
    if (batch.length === BATCH) await flush();
  }
  if (batch.length > 0) await flush();
  const rate = Math.round(count / (milliseconds / 1000));
  console.log(`${count} events in batches of ${BATCH}: ${rate}/s, loop held up ${milli(delays.max)} at most`);
}

async function medianOf(query: EventQuery): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    await events.query(query);
    times.push(performance.now() - begin);
  }
  times.sort((one, other) => one - other);
  return `${times[ROUNDS >> 1]?.toFixed(1)} ms`;
}

function milli(nanoseconds: number): string {
  return `${(nanoseconds / 1e6).toFixed(1)} ms`;
}

function memory(): string {
  return `${(process.memoryUsage().rss / MILLION).toFixed(0)} MB`;
}
