import { positionIn } from '../src/manage/generations/log-cursor.ts';
import type { LogFilter, LogPage, LogQuery } from '../src/ports/events/events.ts';
import type { DuckdbEventStore } from '../src/store/events/duckdb/event-store.ts';
import { eventHistory, HISTORY_START_MS } from '../test/kit/builders/event-history.ts';
import { logFilterOf } from '../test/kit/builders/log-filter.ts';
import { withFilledEvents } from './filled-events.ts';

/**
 * How long pages and counts of the log take, with every filter and in every order: `node scripts/bench.mjs log
 * [MILLIONS] [WITHIN_MS]`. With WITHIN_MS each stops after that time, as the console asks. With BENCH_DATA=FOLDER the
 * events are kept there for the next run.
 */

const MILLION = 1_000_000;
const DAYS = 30;
const DAY_MS = 86_400_000;
const ROUNDS = 5;
const PAGE_ROWS = 200;

const count = Number(process.argv[2] ?? 1) * MILLION;
const stopAfterMs = process.argv[3] === undefined ? null : Number(process.argv[3]);
const endMs = HISTORY_START_MS + DAYS * DAY_MS;

const ALL = logFilterOf({ accountId: 'account-0', fromMs: HISTORY_START_MS, toMs: endMs });
const NEWEST: Pick<LogQuery, 'sort' | 'order' | 'after' | 'limit'> = {
  sort: 'arrival',
  order: 'desc',
  after: null,
  limit: PAGE_ROWS,
};

/** Filters that the log of the console offers. */
const FILTERS: Readonly<Record<string, Partial<LogFilter>>> = {
  none: {},
  model: { models: ['acme/model-3'] },
  provider: { providers: ['Provider 2'] },
  key: { keys: ['key-2'] },
  workspace: { workspaces: ['workspace-1'] },
  app: { apps: ['app-4.example'] },
  'failed ones': { states: ['failed'] },
  format: { formats: ['chat'] },
  'finish reason': { finishReasons: ['length'] },
  'error status': { errorStatuses: [524] },
  'not streamed': { isStreamed: false },
  'slower than 29.9 s': { minDurationMs: 29_900 },
  'slower than a minute: none': { minDurationMs: 60_000 },
  'one model, slower than 29 s': { models: ['acme/model-3'], minDurationMs: 29_000 },
  'dearer than $0.0049': { minNanos: 4_900_000n },
  'dearer than $1: none': { minNanos: 1_000_000_000n },
  'a session': { search: 'session-4000' },
  'a request id': { search: `request-${count / 2}` },
  'a text found nowhere': { search: 'of-nobody' },
  'an id': { search: `gen-${count / 2}` },
  'an id that is not there': { search: 'gen-of-nobody' },
};

/** Orders other than the newest first. */
const ORDERS: Readonly<Record<string, Partial<LogQuery>>> = {
  'oldest first': { order: 'asc' },
  'longest first': { sort: 'duration' },
  'shortest first': { sort: 'duration', order: 'asc' },
  'slowest to begin first': { sort: 'first-content' },
  'dearest first': { sort: 'cost' },
  'cheapest first': { sort: 'cost', order: 'asc' },
  'longest of a key': { sort: 'duration', keys: ['key-0'] },
  'longest of failed ones': { sort: 'duration', states: ['failed'] },
  'longest of a session': { sort: 'duration', search: 'session-4000' },
  'dearest of a text found nowhere': { sort: 'cost', search: 'of-nobody' },
};

await withFilledEvents(
  'events.duckdb',
  () => eventHistory(count, DAYS),
  async (events) => {
    for (const [title, filter] of Object.entries(FILTERS)) {
      await page(events, title, filter);
      await timed(`  counts of it`, async () => {
        const bucketMs = DAY_MS / 3;
        const { countedFromMs } = await events.logCounts({ ...ALL, ...filter, bucketMs, stopAfterMs });
        return countedFromMs === null ? 'all' : `of ${daysUntil(countedFromMs)}`;
      });
    }
    for (const [title, query] of Object.entries(ORDERS)) await page(events, title, query);
    await page(events, 'page from the middle', {
      after: { value: BigInt(HISTORY_START_MS + 15 * DAY_MS), id: '' },
    });
    await page(events, 'new since a moment ago', { endedFromMs: endMs - 10_000 });
    await page(events, '1,000 rows', { limit: 1_000 });
    await exported(events);
  },
);

/** Days at the end of the range, in words. */
function daysUntil(ms: number): string {
  return `${((endMs - ms) / DAY_MS).toFixed(1)} days`;
}

async function page(events: DuckdbEventStore, title: string, change: Partial<LogQuery>): Promise<void> {
  await timed(title, async () => {
    const { rows, searchedToMs } = await events.log({ ...ALL, ...NEWEST, stopAfterMs, ...change });
    return `${rows.length} rows${searchedToMs === null ? '' : ` of ${daysUntil(searchedToMs)}`}`;
  });
}

/** Says how long something takes, and how much processor time of this process: others on the machine do not add to it. */
async function timed(title: string, ask: () => Promise<string>): Promise<void> {
  const took: number[] = [];
  const used: number[] = [];
  let answer = '';
  for (let round = 0; round < ROUNDS; round++) {
    const startedMs = performance.now();
    const before = process.cpuUsage();
    answer = await ask();
    took.push(performance.now() - startedMs);
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 1_000);
  }
  const figures = [median(took), Math.min(...took), median(used)].map((ms) => ms.toFixed(0));
  console.log(`${title}: ${figures[0]} ms, least ${figures[1]}, processor ${figures[2]}; ${answer}`);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** The pages of an export, without writing them. */
async function exported(events: DuckdbEventStore): Promise<void> {
  const startedMs = performance.now();
  let rows = 0;
  let after: LogQuery['after'] = null;
  for (;;) {
    const read: LogPage = await events.log({ ...ALL, ...NEWEST, after, limit: 5_000, stopAfterMs: null });
    rows += read.rows.length;
    const last = read.rows.at(-1);
    if (last === undefined || performance.now() - startedMs > 20_000) break;
    after = positionIn('arrival', last);
  }
  console.log(`export: ${Math.round(rows / ((performance.now() - startedMs) / 1_000))} rows/s`);
}
