import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/contracts/temporary-directory.ts';
import { systemClock } from '../kit/ids.ts';
import { openEmbeddedState } from './open-embedded-state.ts';
import type { State } from './state.ts';

const NOW = Date.parse('2025-06-15T12:00:00Z');

let temporary: ReturnType<typeof temporaryDirectory>;
let state: State;
let warnings: string[];

const open = () =>
  openEmbeddedState({
    directory: temporary.path,
    databaseFile: join(temporary.path, 'x.sqlite'),
    durability: () => 'process',
    clock: { ...systemClock, now: () => NOW },
    warn: (message) => warnings.push(message),
  });

beforeEach(async () => {
  temporary = temporaryDirectory();
  warnings = [];
  state = await open();
});

afterEach(async () => {
  await state.close();
  temporary.remove();
});

async function spend(generationId: string, creditNanos: bigint): Promise<void> {
  const scopes = { key: 'k', workspace: 'w', account: 'a' };
  const amount = { creditNanos, byokNanos: 0n };
  await state.ledger.reserve(
    { generationId, scopes, limits: { key: [], workspace: [] }, atMs: NOW, row: {} },
    () => amount,
  );
  await state.ledger.settle(generationId, { used: amount, row: {}, atMs: NOW });
}

it('gives rows to all but the generation whose charge no row holds, also after a restart', async () => {
  await spend('g1', 1n);
  await spend('g2', 2n ** 63n);
  await spend('g3', 1n);
  const { generations, accounts } = await state.ledger.verify();
  expect(generations).toBe(2);
  expect(accounts).toMatchObject([{ settledNanos: 2n ** 63n + 2n, differenceNanos: 0n }]);
  expect(warnings).toEqual([
    expect.stringContaining('the generation g2 can never be in the projection generations'),
  ]);
  expect(await state.generationStore.find('a', 'g2')).toBeUndefined();
  await state.close();
  state = await open();
  await spend('g4', 1n);
  expect((await state.ledger.verify()).generations).toBe(3);
});

it('charges go on while another process writes to the database, and their rows follow', async () => {
  const other = new Database(join(temporary.path, 'x.sqlite'));
  other.exec('begin immediate');
  const began = performance.now();
  for (let index = 0; index < 20; index++) await spend(`g${index}`, 1n);
  expect(performance.now() - began).toBeLessThan(900);
  expect(state.recentGenerations.recent('g7')?.charge.creditNanos).toBe(1n);
  other.exec('rollback');
  other.close();
  await expect.poll(() => state.generationStore.count(), { timeout: 5_000 }).toBe(20);
});
