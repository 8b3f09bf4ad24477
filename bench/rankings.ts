import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { APP_CATEGORIES } from '../src/ir/apps/app-categories.ts';
import type { GenerationEvent } from '../src/ports/events/events.ts';
import { openEventBundle } from '../src/store/events/duckdb/bundle/event-bundle.ts';
import { DuckdbEventStore } from '../src/store/events/duckdb/event-store.ts';
import { openSqlite } from '../src/store/sql/sqlite/open-sqlite.ts';
import { SqlAppRegistry } from '../src/store/sql/stores/sql-app-registry.ts';
import { appHistory, HISTORY_START_MS } from '../test/kit/builders/event-history.ts';
import { openTestGateway, type TestGateway } from '../test/kit/gateway-harness.ts';

/**
 * How long rankings take, HTTP included, and how long they hold up the loop: over a year of ten thousand apps, and
 * over a day of 150,000 apps that are all equal. `node scripts/bench.mjs rankings [APPS [EQUAL_APPS]]`.
 */

const DAYS = 365;
const DAY_MS = 86_400_000;
const APPS = Number(process.argv[2] ?? 10_000);
const EQUAL_APPS = Number(process.argv[3] ?? 150_000);
const SLICE = 2_000;
const ROUNDS = 21;

const day = (place: number) => new Date(HISTORY_START_MS + place * DAY_MS).toISOString().slice(0, 10);
const year = `start_date=${day(0)}&end_date=${day(DAYS - 1)}`;
const quarter = `start_date=${day(DAYS - 91)}&end_date=${day(DAYS - 1)}`;

console.log(`${APPS} apps on ${DAYS} days`);
await measureAll(APPS, () => appHistory(APPS, DAYS), [
  `app-rankings?${year}`,
  `app-rankings?${year}&limit=100&offset=100`,
  `app-rankings?${year}&category=coding`,
  `app-rankings?${quarter}&sort=trending`,
  `rankings-daily?${year}`,
  `rankings-daily?${year}&period=month`,
]);

console.log(`${EQUAL_APPS} equal apps on one day`);
await measureAll(EQUAL_APPS, () => equalApps(EQUAL_APPS), [
  `app-rankings?${year}`,
  `app-rankings?${year}&limit=100&offset=100`,
  `app-rankings?${year}&category=coding`,
  `app-rankings?start_date=${day(0)}&end_date=${day(0)}&sort=trending`,
]);

function* equalApps(apps: number): Generator<GenerationEvent> {
  for (const event of appHistory(apps, 1)) yield { ...event, promptTokens: 7 };
}

async function measureAll(
  apps: number,
  history: () => Iterable<GenerationEvent>,
  paths: readonly string[],
): Promise<void> {
  const gateway = await openTestGateway(
    {
      limits: { datasets: { per_minute: 1_000_000, per_day: 1_000_000 } },
      apps: { hidden: ['app-7.example', '*.hidden.example'] },
    },
    { prepare: (dataDir) => fill(dataDir, apps, history()) },
  );
  try {
    for (const path of paths) console.log(`${path}: ${await measured(gateway, `/datasets/${path}`)}`);
  } finally {
    await gateway.close();
  }
}

async function fill(dataDir: string, apps: number, history: Iterable<GenerationEvent>): Promise<void> {
  const file = join(dataDir, 'bundle');
  const bundle = openEventBundle(file);
  let slice: GenerationEvent[] = [];
  for (const event of history) {
    slice.push(event);
    if (slice.length < SLICE) continue;
    await bundle.add(slice);
    slice = [];
  }
  await bundle.add(slice);
  await bundle.close();
  const events = new DuckdbEventStore(join(dataDir, 'events.duckdb'));
  await events.addBundle({ file });
  await events.close();
  const database = await openSqlite(join(dataDir, 'signalbox.sqlite'), 1);
  const categories = Object.values(APP_CATEGORIES).flat();
  await new SqlAppRegistry(database).note(
    Array.from({ length: apps }, (_, app) => ({
      host: `app-${app}.example`,
      url: `https://app-${app}.example/`,
      title: `App ${app}`,
      categories: [categories[app % categories.length] ?? ''],
      atMs: HISTORY_START_MS,
    })),
  );
  await database.destroy();
}

async function measured(gateway: TestGateway, path: string): Promise<string> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const times: number[] = [];
  const processor = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) {
    delays.enable();
    const begin = performance.now();
    const response = await gateway.fetch(path);
    await response.arrayBuffer();
    times.push(performance.now() - begin);
    delays.disable();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  }
  const { user, system } = process.cpuUsage(processor);
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.floor(share * (ROUNDS - 1))]?.toFixed(1);
  const used = ((user + system) / 1000 / ROUNDS).toFixed(1);
  return `${at(0.5)} ms (${used} ms of processor), ${at(1)} ms at most, loop held up ${(delays.max / 1e6).toFixed(1)} ms at most`;
}
