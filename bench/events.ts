import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { EventQuery, GenerationEvent } from '../src/ports/events/events.ts';
import { openEventBundle } from '../src/store/events/duckdb/bundle/event-bundle.ts';
import { DuckdbEventStore } from '../src/store/events/duckdb/event-store.ts';
import { appHistory, eventHistory, HISTORY_START_MS } from '../test/kit/builders/event-history.ts';

/**
 * How fast events are taken in, how long that holds up the loop, and how long they take to be counted.
 * `node scripts/bench.mjs events [MILLIONS [DIRECTORY]]`: the directory says which disk is measured.
 */

const DAYS = 365;
/** As the projector hands events over, and as many as a backlog may bring. */
const BATCHES = [
  { size: 500, share: 0.05 },
  { size: 5000, share: 0.15 },
  { size: 10_000, share: 0.25 },
];
const ROUNDS = 7;
const MILLION = 1_000_000;
const DAY_MS = 86_400_000;
const APPS = 10_000;
const BUNDLE_SLICE = 2_000;

const count = Number(process.argv[2] ?? 1) * MILLION;
const directory = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'signalbox-bench-'));
const events = new DuckdbEventStore(join(directory, 'events.duckdb'));
const apps = new DuckdbEventStore(join(directory, 'apps.duckdb'));

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
  console.log(`without the store: ${memory()} of memory`);
  await events.sizes();
  console.log(`idle with the store open: ${memory()} of memory`);
  let from = 0;
  for (const { size, share } of BATCHES) {
    await append(from, Math.round(count * share), size);
    from += Math.round(count * share);
  }
  await takeIn(events, eventHistory(count - from, DAYS, from));
  await ask();
  await events.prune(HISTORY_START_MS);
  console.log(`compacted: ${(await events.sizes()).dailyRows} rows of daily sums`);
  console.log(`by day and model, from daily sums: ${await queried(byDayAndModel)}`);
  await events.close();
  await rankApps();
} finally {
  await events.close();
  await apps.close();
  rmSync(directory, { recursive: true, force: true });
}

async function ask(): Promise<void> {
  const { bytes, dailyRows } = await events.sizes();
  console.log(
    `${(bytes / MILLION).toFixed(0)} MB on disk, ${dailyRows} rows of daily sums, ${memory()} of memory`,
  );
  console.log(`by day and model, from daily sums: ${await queried(byDayAndModel)}`);
  const ofEvents = { ...byDayAndModel, startMs: HISTORY_START_MS + 1 };
  console.log(`by day and model, from events: ${await queried(ofEvents)}`);
  console.log(`the same with p99 of latency: ${await queried({ ...ofEvents, metrics: ['p99_latency'] })}`);
}

/** A year of apps: what one year used, and what is trending in a quarter. */
async function rankApps(): Promise<void> {
  await takeIn(apps, appHistory(APPS, DAYS));
  const window = (first: number, end: number) => ({
    startMs: HISTORY_START_MS + first * DAY_MS,
    endMs: HISTORY_START_MS + end * DAY_MS,
  });
  // Other days in each round: what was asked once is remembered.
  const year = (round: number) => [window(round, DAYS)];
  const quarter = (round: number) => [window(270 + round, 360 + round), window(round, 270 + round)];
  console.log(`${APPS} apps, one year: ${await median((round) => apps.appTotals(year(round)))}`);
  console.log(
    `${APPS} apps, trending in a quarter: ${await median((round) => apps.appTotals(quarter(round)))}`,
  );
}

/** Making the events is not part of the time. */
async function append(from: number, many: number, size: number): Promise<void> {
  let batch: GenerationEvent[] = [];
  let milliseconds = 0;
  let processorMilliseconds = 0;
  let heldUp = 0;
  const flush = async () => {
    // A monitor that was off for a while takes that for a delay: so each batch has its own.
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    const processor = process.cpuUsage();
    const begin = performance.now();
    await events.append(batch);
    milliseconds += performance.now() - begin;
    processorMilliseconds += processorSince(processor);
    delays.disable();
    heldUp = Math.max(heldUp, delays.max / 1e6);
    batch = [];
  };
  for (const event of eventHistory(many, DAYS, from)) {
    batch.push(event);
    if (batch.length === size) await flush();
  }
  if (batch.length > 0) await flush();
  console.log(
    `${many} events in batches of ${size}: ${perSecond(many, milliseconds)} (${perSecond(many, processorMilliseconds)} of processor), loop held up ${heldUp.toFixed(1)} ms at most`,
  );
}

async function takeIn(store: DuckdbEventStore, history: Iterable<GenerationEvent>): Promise<void> {
  const file = join(directory, 'bundle.duckdb');
  const bundle = openEventBundle(file);
  let slice: GenerationEvent[] = [];
  let milliseconds = 0;
  const measured = async (work: () => Promise<void>) => {
    const begin = performance.now();
    await work();
    milliseconds += performance.now() - begin;
  };
  for (const event of history) {
    slice.push(event);
    if (slice.length < BUNDLE_SLICE) continue;
    await measured(() => bundle.add(slice));
    slice = [];
  }
  await measured(() => bundle.add(slice));
  await measured(() => bundle.close());
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const begin = performance.now();
  const { added } = await store.addBundle({ file });
  console.log(
    `${added} events prepared in ${(milliseconds / 1000).toFixed(1)} s and taken in within ${((performance.now() - begin) / 1000).toFixed(1)} s, loop held up ${(delays.max / 1e6).toFixed(1)} ms at most, ${memory()} of memory`,
  );
  delays.disable();
  rmSync(file);
}

function queried(query: EventQuery): Promise<string> {
  return median(() => events.query(query));
}

async function median(work: (round: number) => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  const processor = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    await work(round);
    times.push(performance.now() - begin);
  }
  times.sort((one, other) => one - other);
  return `${times[ROUNDS >> 1]?.toFixed(1)} ms (${(processorSince(processor) / ROUNDS).toFixed(1)} ms of processor)`;
}

function processorSince(begin: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}

function perSecond(many: number, milliseconds: number): string {
  return `${Math.round(many / (milliseconds / 1000))}/s`;
}

function memory(): string {
  return `${(process.memoryUsage().rss / MILLION).toFixed(0)} MB`;
}
