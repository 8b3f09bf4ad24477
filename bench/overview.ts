import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/kit/time/clock.ts';
import { AccountOverview } from '../src/manage/analytics/overview.ts';
import type { GenerationEvent } from '../src/ports/events/events.ts';
import type { Spending } from '../src/ports/money/ledger.ts';
import { DuckdbEventStore } from '../src/store/events/duckdb/event-store.ts';
import { eventHistory, HISTORY_START_MS } from '../test/kit/builders/event-history.ts';
import { writeFilledBundle } from '../test/kit/builders/filled-bundle.ts';

/**
 * How long `GET /overview` takes over a long history, without HTTP. `node scripts/bench.mjs overview [MILLIONS]`.
 */

const DAY_MS = 86_400_000;
const DAYS = 30;
const ROUNDS = 7;

const count = Number(process.argv[2] ?? 1) * 1_000_000;
const directory = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
const events = new DuckdbEventStore(join(directory, 'events.duckdb'));
const endMs = Date.now();
const signal = new AbortController().signal;
const scope = { accountId: 'account', keyHash: null };

const NO_WINDOWS = { daily: 0n, weekly: 0n, monthly: 0n };
const spending = {
  windows: { daily: 0, weekly: 0, monthly: 0 },
  credit: { ...NO_WINDOWS, lifetime: 0n },
  byok: { ...NO_WINDOWS, lifetime: 0n },
} satisfies Spending;

const overview = new AccountOverview({
  events,
  ledger: { spendingOf: async () => [spending] },
  tenancy: { findKey: async () => undefined, findWorkspaceById: async () => undefined },
  apps: { ofHosts: async () => [] },
  generations: { writtenOff: async () => [] },
  clock: systemClock,
});

try {
  await fill();
  for (const days of [1 / 24, 1, 7, DAYS]) {
    const from = new Date(endMs - days * DAY_MS).toISOString();
    const times: number[] = [];
    let requests = 0;
    const cpu = process.cpuUsage();
    for (let round = 0; round < ROUNDS; round++) {
      const startedMs = performance.now();
      requests = (await overview.read(scope, { from }, signal)).now.request_count;
      times.push(performance.now() - startedMs);
    }
    times.sort((one, other) => one - other);
    const [least = 0] = times;
    const middle = times[Math.floor(ROUNDS / 2)] ?? 0;
    const { user, system } = process.cpuUsage(cpu);
    const cpuMs = (user + system) / 1000 / ROUNDS;
    const range = days < 1 ? 'hour' : `${days} d`;
    console.log(
      `last ${range}: ${requests} generations, ${middle.toFixed(0)} ms (least ${least.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of processor)`,
    );
  }
} finally {
  await events.close();
  rmSync(directory, { recursive: true, force: true });
}

async function fill(): Promise<void> {
  const file = join(directory, 'bundle');
  await writeFilledBundle(file, history());
  await events.addBundle({ file });
  const { events: kept, bytes } = await events.sizes();
  console.log(`${kept} generations of ${DAYS} days in ${Math.round(bytes / 2 ** 20)} MiB`);
}

/** Generations of the account, until now. */
function* history(): Generator<GenerationEvent> {
  const shiftMs = endMs - DAYS * DAY_MS - HISTORY_START_MS;
  for (const event of eventHistory(count, DAYS)) {
    yield { ...event, accountId: scope.accountId, createdAtMs: event.createdAtMs + shiftMs };
  }
}
