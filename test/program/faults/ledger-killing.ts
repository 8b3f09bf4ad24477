import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { openEmbeddedLedger } from '../../../src/store/ledger/embedded/open-embedded-ledger.ts';
import { openSqlite } from '../../../src/store/sql/sqlite/open-sqlite.ts';
import { sqliteGenerationStore } from '../../../src/store/sql/stores/sql-generation-store.ts';
import { SqlLedgerMark } from '../../../src/store/sql/stores/sql-ledger-mark.ts';
import { compiled, killHard } from '../../kit/program.ts';

/** What the killed processes acknowledged. */
interface Said {
  readonly accepted: Set<string>;
  /** Those of `accepted` whose release was begun and not acknowledged. */
  readonly voiding: Set<string>;
  readonly voided: Set<string>;
  /** Nano-dollars by id. */
  readonly settled: Map<string, bigint>;
}

/**
 * Begins generations from 30 places at once and prints what was acknowledged. Small sizes, so that all is done often.
 */
const SPENDER = `
  import { writeSync } from 'node:fs';
  import { join } from 'node:path';
  import { systemClock } from ${JSON.stringify(compiled('kit/time/clock.js'))};
  import { openEmbeddedLedger } from ${JSON.stringify(compiled('store/ledger/embedded/open-embedded-ledger.js'))};
  import { openSqlite } from ${JSON.stringify(compiled('store/sql/sqlite/open-sqlite.js'))};
  import { sqliteGenerationStore } from ${JSON.stringify(compiled('store/sql/stores/sql-generation-store.js'))};
  import { SqlLedgerMark } from ${JSON.stringify(compiled('store/sql/stores/sql-ledger-mark.js'))};
  const [directory, round] = process.argv.slice(1);
  const say = (...words) => writeSync(1, words.join(' ') + '\\n');
  const database = await openSqlite(join(directory, 'x.sqlite'), Date.now());
  const { ledger, report } = await openEmbeddedLedger({
    directory,
    generations: sqliteGenerationStore(database),
    mark: new SqlLedgerMark(database),
    exists: { key: new Set(['k0', 'k1', 'k2']), workspace: new Set(['w']) },
    durability: () => 'power',
    clock: systemClock,
    warn: (message, fields) => console.error(message, fields),
    snapshotBytes: 40_000,
    journal: { segmentBytes: 20_000, reservedBytes: 10_000 },
  });
  if (report.settledAfterCrash !== 0 || ledger.openReservations !== 0) say('left-open', ledger.openReservations);
  await ledger.grant('a', 10n ** 15n, Date.now());
  let next = 0;
  async function spendOn(place) {
    const scopes = { key: 'k' + (place % 3), workspace: 'w', account: 'a' };
    for (;;) {
      const id = 'gen-' + round + '-' + next++;
      const nanos = BigInt(next * 7919 % 1000);
      const amount = { creditNanos: nanos, byokNanos: 0n };
      const row = { id, filling: 'x'.repeat((next * 37) % 400) };
      const atMs = Date.now();
      const reserving = await ledger.reserve({ generationId: id, scopes, limits: { key: [], workspace: [] }, atMs, row }, () => amount);
      if (!reserving.ok) throw new Error('refused');
      say('accepted', id);
      if (place % 5 === 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      if (place % 3 === 0) await ledger.checkpoint(id, { used: amount, row: { step: 1 }, atMs });
      if (place % 7 === 0) await ledger.topUp(id, () => amount, atMs);
      if (place % 11 === 0) { say('voiding', id); await ledger.void(id, atMs); say('voided', id); continue; }
      const { charge } = await ledger.settle(id, { used: amount, row, atMs });
      say('settled', id, charge.creditNanos);
    }
  }
  for (let place = 0; place < 30; place++) void spendOn(place);
`;

/** Kills a spending process again and again and checks each time that every promise was kept. */
export async function killAgainAndAgain(directory: string, rounds: number): Promise<void> {
  const said: Said = { accepted: new Set(), voiding: new Set(), voided: new Set(), settled: new Map() };
  for (let round = 0; round < rounds; round++) {
    await spendUntilKilled(directory, round, said);
    // Every other time the next process finds what was left.
    if (round % 2 === 1 || round === rounds - 1) await check(directory, said);
  }
  expect(said.settled.size).toBeGreaterThan(rounds * 5);
}

async function spendUntilKilled(directory: string, round: number, said: Said): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', SPENDER, '--', directory, String(round)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const printed: Buffer[] = [];
  const ended = new Promise((resolve) => child.stdout.once('end', resolve));
  child.stdout.on('data', (bytes) => printed.push(bytes));
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', () => reject(new Error('the spender ended by itself')));
  });
  await delay(Math.random() * 300);
  await killHard(child);
  await ended;
  // The last line may be cut.
  for (const line of Buffer.concat(printed).toString().split('\n').slice(0, -1)) note(line, said);
}

function note(line: string, { accepted, voiding, voided, settled }: Said): void {
  const [word, id = '', nanos = ''] = line.split(' ');
  if (word === 'accepted') accepted.add(id);
  else if (word === 'voiding') voiding.add(id);
  else if (word === 'voided') voided.add(id);
  else if (word === 'settled') settled.set(id, BigInt(nanos));
}

async function check(directory: string, { accepted, voiding, voided, settled }: Said): Promise<void> {
  const database = await openSqlite(join(directory, 'x.sqlite'), 1);
  const started = performance.now();
  const { ledger, close } = await openEmbeddedLedger({
    directory,
    generations: sqliteGenerationStore(database),
    mark: new SqlLedgerMark(database),
    exists: { key: new Set(['k0', 'k1', 'k2']), workspace: new Set(['w']) },
    durability: () => 'power',
    clock: systemClock,
    warn() {},
    journal: { segmentBytes: 20_000, reservedBytes: 10_000 },
  });
  expect(performance.now() - started, 'milliseconds to be ready').toBeLessThan(5_000);
  expect(ledger.openReservations).toBe(0);
  await close();
  const rows = new Map(
    (await database.selectFrom('generations').select(['id', 'credit_nanos']).execute()).map((row) => [
      row.id,
      BigInt(row.credit_nanos),
    ]),
  );
  const lost = [...settled].filter(([id, nanos]) => rows.get(id) !== nanos);
  expect(lost, 'settled and lost or charged otherwise').toEqual([]);
  const unresolved = [...accepted].filter((id) => !voiding.has(id) && !rows.has(id));
  expect(unresolved, 'accepted and without a row').toEqual([]);
  expect(
    [...voided].filter((id) => rows.has(id)),
    'let go and with a row',
  ).toEqual([]);
  const { settledNanos, differenceNanos } = await ledger.statementOf('a');
  expect(differenceNanos).toBe(0n);
  expect(
    [...rows.values()].reduce((sum, nanos) => sum + nanos, 0n),
    'each charged once',
  ).toBe(settledNanos);
  await database.destroy();
}
