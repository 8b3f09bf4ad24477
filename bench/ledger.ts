import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../src/kit/time/clock.ts';
import type { Ledger, Limits } from '../src/ports/money/ledger.ts';
import { openEmbeddedLedger } from '../src/store/ledger/embedded/open-embedded-ledger.ts';
import { openSqlite } from '../src/store/sql/sqlite/open-sqlite.ts';
import { sqliteGenerationStore } from '../src/store/sql/stores/sql-generation-store.ts';
import { SqlLedgerMark } from '../src/store/sql/stores/sql-ledger-mark.ts';

/**
 * What the ledger costs a request, with the rows being made beside it, and how long a gateway takes to be ready again
 * that was killed with a long journal. `node scripts/bench.mjs ledger [DIRECTORY]`: the directory says which disk is
 * measured.
 */

const RATE = 500;
const SECONDS = 10;
const KEYS = 1_000;
const LONG_JOURNAL_BYTES = 100e6;

const limits: Limits = {
  key: [{ window: 'monthly', nanos: 10n ** 15n, countsByok: false }],
  workspace: [{ window: 'daily', nanos: 10n ** 17n, countsByok: false }],
};
const used = { creditNanos: 1_234_567n, byokNanos: 0n };
const reserved = { creditNanos: 40_000_000n, byokNanos: 0n };

/** About the size of a generation's row. */
const row = Object.fromEntries(
  Array.from({ length: 50 }, (_, index) => [
    `column_${index}`,
    index % 3 === 0 ? null : index % 3 === 1 ? index * 17 : 'some text',
  ]),
);

const exists = {
  key: new Set(Array.from({ length: KEYS }, (_, index) => `key-${index}`)),
  workspace: new Set(['workspace']),
};

const directory = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'signalbox-bench-'));
const database = await openSqlite(join(directory, 'x.sqlite'), Date.now());
const generations = sqliteGenerationStore(database);
const settings = {
  directory,
  generations,
  mark: new SqlLedgerMark(database),
  exists,
  durability: () => 'power' as const,
  clock: systemClock,
  warn: (message: string, fields?: unknown) => console.log(message, fields),
};
let next = 0;

try {
  const first = await openEmbeddedLedger(settings);
  await first.ledger.grant('account', 10n ** 18n, Date.now());
  await spendSteadily(first.ledger);
  const begin = performance.now();
  await first.close();
  console.log(`closed in ${Math.round(performance.now() - begin)} ms, ${await generations.count()} rows`);
  await measureStart();
} finally {
  await database.destroy();
  rmSync(directory, { recursive: true, force: true });
  // One ledger was left open.
  process.exit();
}

/** Begins generations when they are due, whether or not those before are done. */
async function spendSteadily(ledger: Ledger): Promise<void> {
  const reserving: number[] = [];
  const settling: number[] = [];
  const runs: Promise<void>[] = [];
  const end = performance.now() + SECONDS * 1000;
  for (let due = performance.now(); due < end; due += (-Math.log(1 - Math.random()) * 1000) / RATE) {
    while (performance.now() < due) await delay(1);
    runs.push(spend(ledger, reserving, settling));
  }
  await Promise.all(runs);
  console.log(`${RATE} generations a second for ${SECONDS} s, rows made beside:`);
  console.log(`reserve: ${summaryOf(reserving)}`);
  console.log(`settle:  ${summaryOf(settling)}`);
}

async function spend(ledger: Ledger, reserving: number[], settling: number[]): Promise<void> {
  const generationId = `gen-${next++}`;
  const scopes = { key: `key-${next % KEYS}`, workspace: 'workspace', account: 'account' };
  const begin = performance.now();
  await ledger.reserve({ generationId, scopes, limits, atMs: Date.now(), row }, () => reserved);
  const between = performance.now();
  await ledger.settle(generationId, { used, row, atMs: Date.now() });
  reserving.push(between - begin);
  settling.push(performance.now() - between);
}

/** A long journal: rows cannot be written, so no segment is dropped, and it is not closed. */
async function measureStart(): Promise<void> {
  const failing = {
    ...settings,
    warn() {},
    snapshotBytes: Number.POSITIVE_INFINITY,
    generations: {
      add: async () => {
        throw new Error('no rows');
      },
      count: () => generations.count(),
      find: generations.find.bind(generations),
      prune: generations.prune.bind(generations),
    },
  };
  const { ledger } = await openEmbeddedLedger(failing);
  const settled: number[] = [];
  for (;;) {
    const { journal } = await ledger.verify();
    if (journal.bytes > LONG_JOURNAL_BYTES) break;
    await Promise.all(Array.from({ length: 10_000 }, () => spend(ledger, settled, settled)));
  }
  // Left as it is, like after kill -9.
  const begin = performance.now();
  const again = await openEmbeddedLedger(settings);
  const milliseconds = performance.now() - begin;
  console.log(
    `opened with ${Math.round(LONG_JOURNAL_BYTES / 1e6)} MB of journal in ${Math.round(milliseconds)} ms`,
  );
  const before = await generations.count();
  await delay(2_000);
  const count = await generations.count();
  console.log(`${Math.round((count - before) / 2)} rows a second made from it, ${count} of ${next} there`);
  const closing = performance.now();
  await again.close();
  console.log(`closed in ${Math.round(performance.now() - closing)} ms`);
}

function summaryOf(waits: number[]): string {
  waits.sort((one, other) => one - other);
  const at = (share: number) => (waits[Math.floor(share * (waits.length - 1))] ?? 0).toFixed(2);
  return `${waits.length}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
}
