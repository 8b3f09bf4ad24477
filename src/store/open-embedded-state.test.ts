import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/adapters/contracts/temporary-directory.ts';
import { eventSumsOf } from '../../test/kit/builders/event-sums.ts';
import { systemClock } from '../kit/time/clock.ts';
import { readOrMakeGatewayId } from './directory/gateway-identity.ts';
import { openEmbeddedState } from './open-embedded-state.ts';
import type { State } from './state.ts';

const NOW = Date.parse('2025-06-15T12:00:00Z');

let temporary: ReturnType<typeof temporaryDirectory>;
let state: State;
let warnings: string[];

const OPTIONS = {
  durability: () => 'process' as const,
  generationMs: () => 60_000,
  clock: { ...systemClock, now: () => NOW },
  warn: (message: string) => void warnings.push(message),
};

const open = () =>
  openEmbeddedState({
    ...OPTIONS,
    directory: temporary.path,
    databaseFile: join(temporary.path, 'x.sqlite'),
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

it('refuses the directory of a gateway on PostgreSQL, and creates nothing in it', async () => {
  const other = temporaryDirectory();
  const databaseFile = join(other.path, 'x.sqlite');
  readOrMakeGatewayId(other.path);
  await expect(openEmbeddedState({ ...OPTIONS, directory: other.path, databaseFile })).rejects.toThrow(
    `${other.path} belongs to a gateway on PostgreSQL: set DATABASE_URL to its database`,
  );
  expect(existsSync(databaseFile)).toBe(false);
  other.remove();
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

it('charges no generation more than any may cost, and gives it a row like all others', async () => {
  await spend('g1', 1n);
  await spend('g2', 2n ** 63n);
  await spend('g3', 1n);
  const { generations, accounts } = await state.ledger.verify();
  expect(generations).toBe(3);
  expect(accounts).toMatchObject([{ settledNanos: 10n ** 18n + 2n, differenceNanos: 0n }]);
  expect(warnings).toEqual([expect.stringContaining('exceeds the maximum')]);
  expect(await state.generationStore.find('a', 'g2')).toMatchObject({ charge: { creditNanos: 10n ** 18n } });
  await state.close();
  state = await open();
  await spend('g4', 1n);
  expect((await state.ledger.verify()).generations).toBe(4);
});

it('charges go on while another process writes to the database, and their rows follow', async () => {
  const other = new Database(join(temporary.path, 'x.sqlite'));
  other.exec('begin immediate');
  const began = performance.now();
  for (let index = 0; index < 20; index++) await spend(`g${index}`, 1n);
  expect(performance.now() - began).toBeLessThan(4_000);
  expect(state.recentGenerations.recent('g7')?.charge.creditNanos).toBe(1n);
  other.exec('rollback');
  other.close();
  await expect.poll(() => state.generationStore.count(), { timeout: 20_000 }).toBe(20);
});

describe('events', () => {
  const eventsFile = () => join(temporary.path, 'events.duckdb');

  /** The events are what the ledger has charged. */
  const agree = async () => {
    const { settledNanos } = await state.ledger.statementOf('a');
    const events = await eventSumsOf(state.eventStore, 'a');
    return events.creditNanos === settledNanos ? settledNanos : `${events.creditNanos} of ${settledNanos}`;
  };

  const spendSome = async (prefix: string, count: number) => {
    for (let index = 0; index < count; index++) await spend(`${prefix}${index}`, 7n);
  };

  it('follow what was settled within seconds', async () => {
    await spendSome('g', 30);
    await expect.poll(agree, { timeout: 20_000 }).toBe(210n);
    expect(await eventSumsOf(state.eventStore, 'other')).toEqual({ requests: 0n, creditNanos: 0n });
    expect(warnings).toEqual([]);
  });

  it('are not waited for at the end, and follow after the next start', async () => {
    await spendSome('g', 30);
    await state.close();
    expect(existsSync(eventsFile())).toBe(false);
    state = await open();
    await expect.poll(agree, { timeout: 20_000 }).toBe(210n);
    expect(warnings).toEqual([]);
  });

  it('come back from the rows when their file is gone, with a warning about the rest', async () => {
    await spendSome('g', 5);
    expect(await state.eventFeed.refill()).toBe(5);
    await state.close();
    rmSync(eventsFile());
    state = await open();
    await expect.poll(agree, { timeout: 20_000 }).toBe(35n);
    expect(warnings).toEqual([
      expect.stringContaining('sums of days before the oldest row do not come back'),
    ]);
    await state.close();
    state = await open();
    expect(warnings).toHaveLength(1);
  });

  it('are fed once more, and counted once, if nothing says how far they were fed', async () => {
    await spendSome('g', 5);
    expect(await state.eventFeed.refill()).toBe(5);
    await state.close();
    rmSync(join(temporary.path, 'events-fed.json'));
    state = await open();
    await spendSome('h', 1);
    expect(state.eventStore.isRefilling).toBe(true);
    await expect.poll(() => state.eventStore.isRefilling, { timeout: 20_000 }).toBe(false);
    expect(await agree()).toBe(42n);
    expect((await state.eventStore.sizes()).events).toBe(6);
    expect(warnings).toEqual([]);
  });

  it('go on where rows begin again after all of them were pruned', async () => {
    await spendSome('g', 5);
    expect(await agree()).toBe(35n);
    await state.generationStore.prune(NOW + 1, 100);
    await spendSome('h', 6);
    await expect.poll(agree, { timeout: 20_000 }).toBe(77n);
    await state.close();
    state = await open();
    await spendSome('i', 1);
    await expect.poll(agree, { timeout: 20_000 }).toBe(84n);
    expect(warnings).toEqual([]);
  });

  it('come back from the rows when their file is damaged', async () => {
    await spendSome('g', 5);
    expect(await state.eventFeed.refill()).toBe(5);
    await state.close();
    writeFileSync(eventsFile(), 'nothing that a database would write'.repeat(1_000));
    state = await open();
    await spendSome('h', 1);
    await expect.poll(agree, { timeout: 10_000 }).toBe(42n);
    expect(warnings.join()).toContain('the file of the events cannot be read');
  });
});
