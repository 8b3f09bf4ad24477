import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { openEmbeddedState } from '../../../src/store/open-embedded-state.ts';
import { openPostgresState } from '../../../src/store/open-postgres-state.ts';
import type { State } from '../../../src/store/state.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { eventSumsOf } from '../../kit/builders/event-sums.ts';
import { compiled, killHard } from '../../kit/program.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

const closers: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ACCOUNTS = ['a', 'b', 'c'];

/** Spends from many places at once: so many generations, each a little more than the one before. */
async function spendOn({ ledger }: State, prefix: string, count: number): Promise<void> {
  const place = async (first: number) => {
    for (let number = first; number < count; number += 10) {
      const account = ACCOUNTS[number % ACCOUNTS.length] ?? '';
      const generationId = `${prefix}${number}`;
      const atMs = Date.now();
      const amount = { creditNanos: 1_000_000_007n + BigInt(number), byokNanos: 0n };
      const scopes = { key: `k-${account}`, workspace: `w-${account}`, account };
      const limits = { key: [], workspace: [] };
      const reserving = await ledger.reserve({ generationId, scopes, limits, atMs, row: {} }, () => amount);
      if (!reserving.ok) throw new Error('nothing limits this');
      const row = { created_at: new Date(atMs).toISOString(), model: 'm' };
      await ledger.settle(generationId, { used: amount, row, atMs });
    }
  };
  await Promise.all(Array.from({ length: 10 }, (_, index) => place(index)));
}

/** What each account was charged, by the ledger and by the events, as text: equal to the nano-dollar or not. */
async function bothSums({ ledger, eventStore }: State): Promise<{ ledger: string[]; events: string[] }> {
  const { accounts } = await ledger.verify();
  const settled = new Map(accounts.map(({ accountId, settledNanos }) => [accountId, settledNanos]));
  const events = await Promise.all(ACCOUNTS.map((account) => eventSumsOf(eventStore, account)));
  return {
    ledger: ACCOUNTS.map((account) => String(settled.get(account) ?? 0n)),
    events: events.map(({ creditNanos }) => String(creditNanos)),
  };
}

/** The sums of the ledger, once the events have them too. */
async function agreed(state: State): Promise<readonly string[]> {
  await expect
    .poll(
      async () => {
        const { ledger, events } = await bothSums(state);
        return ledger.join() === events.join() || { ledger, events };
      },
      { interval: 100 },
    )
    .toBe(true);
  return (await bothSums(state)).ledger;
}

/** Another process that has a file of DuckDB open until it is killed. */
async function hold(file: string): Promise<ChildProcess> {
  const library = createRequire(import.meta.url).resolve('@duckdb/node-api');
  const code = `
    const { DuckDBInstance } = require(${JSON.stringify(library)});
    DuckDBInstance.create(${JSON.stringify(file)}).then((held) => {
      process.stdout.write('held');
      // An unreferenced instance is closed when it is collected.
      setInterval(() => held, 1000);
    });`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  closers.push(() => void child.kill('SIGKILL'));
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', () => reject(new Error('the holder ended')));
  });
  return child;
}

/** Spends from ten places at once until it is killed, and prints what was settled. */
const SPENDER = `
  import { parseDatabaseAddress } from ${JSON.stringify(compiled('kit/net/database-address.js'))};
  import { systemClock } from ${JSON.stringify(compiled('kit/time/clock.js'))};
  import { openPostgresState } from ${JSON.stringify(compiled('store/open-postgres-state.js'))};
  const [directory, url, prefix] = process.argv.slice(1);
  const { address } = parseDatabaseAddress(url);
  const { ledger } = await openPostgresState({
    directory, database: address, waitsForDatabase: true, isGateway: true, generationMs: () => 60_000, retentionMs: () => 86_400_000,
    durability: () => 'process', clock: systemClock, warn() {},
  });
  let next = 0;
  const spend = async () => {
    for (;;) {
      const generationId = prefix + next++;
      const account = ${JSON.stringify(ACCOUNTS)}[next % ${ACCOUNTS.length}];
      const scopes = { key: 'k-' + account, workspace: 'w-' + account, account };
      const amount = { creditNanos: 1_000_000_007n + BigInt(next), byokNanos: 0n };
      const atMs = Date.now();
      const row = { created_at: new Date(atMs).toISOString(), model: 'm' };
      await ledger.reserve({ generationId, scopes, limits: { key: [], workspace: [] }, atMs, row }, () => amount);
      await ledger.checkpoint(generationId, { used: amount, row, atMs });
      await ledger.settle(generationId, { used: amount, row, atMs });
      process.stdout.write(generationId + '\\n');
    }
  };
  for (let place = 0; place < 10; place++) void spend();
`;

/** A process that spends. Resolves once it has settled something. */
async function spender(path: string, url: string, prefix: string): Promise<ChildProcess> {
  const words = ['--input-type=module', '-e', SPENDER, '--', path, url, prefix];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', () => reject(new Error('the spender ended by itself')));
  });
  child.stdout.resume();
  return child;
}

function directory(): string {
  const temporary = temporaryDirectory();
  closers.push(() => temporary.remove());
  return temporary.path;
}

const common = (warnings: string[]) => ({
  durability: () => 'process' as const,
  generationMs: () => 60_000,
  clock: systemClock,
  warn: (message: string) => warnings.push(message),
});

describe('events of a gateway with its own ledger', () => {
  const open = async (path: string, warnings: string[] = []) => {
    const state = await openEmbeddedState({
      directory: path,
      databaseFile: join(path, 'x.sqlite'),
      ...common(warnings),
    });
    closers.push(() => state.close());
    return state;
  };

  it('work on without their file while another process holds it, and catch up afterwards', async () => {
    const path = directory();
    const warnings: string[] = [];
    const holder = await hold(join(path, 'events.duckdb'));
    const state = await open(path, warnings);
    await spendOn(state, 'one-', 100);
    await expect.poll(() => warnings.length).toBeGreaterThan(0);
    await spendOn(state, 'two-', 100);
    await killHard(holder);
    const sums = await agreed(state);
    expect(sums).not.toContain('0');
    await expect
      .poll(() => warnings.filter((message) => message.includes('again')).length)
      .toBe(warnings.filter((message) => message.includes('cannot')).length);
    expect(warnings.length).toBeLessThanOrEqual(4);
  });
});

if (server !== undefined) {
  describe('events of gateways that share a database', () => {
    const open = async (url: string, path = directory(), warnings: string[] = []) => {
      const state = await openPostgresState({
        directory: path,
        database: addressOf(url),
        waitsForDatabase: false,
        isGateway: true,
        retentionMs: () => 86_400_000,
        ...common(warnings),
      });
      closers.push(() => state.close());
      return state;
    };

    it('are complete in each of them, also in one that starts later', async () => {
      const url = await server.createDatabase();
      const [one, other] = await Promise.all([open(url), open(url)]);
      await Promise.all([spendOn(one, 'one-', 60), spendOn(other, 'other-', 60)]);
      const sums = await agreed(one);
      expect(sums).not.toContain('0');
      expect(await agreed(other)).toEqual(sums);
      expect(await agreed(await open(url))).toEqual(sums);
    });

    it('are what was charged, to the nano-dollar, after gateways were killed while they spent', async () => {
      const url = await server.createDatabase();
      const paths = [directory(), directory()];
      const spenders = await Promise.all(paths.map((path, index) => spender(path, url, `life-${index}-`)));
      // Long enough for the first events to be brought in.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await Promise.all(spenders.map(killHard));
      const [one, other] = await Promise.all(paths.map((path) => open(url, path)));
      if (one === undefined || other === undefined) throw new Error('two were opened');
      const sums = await agreed(one);
      expect(sums).not.toContain('0');
      expect(await agreed(other)).toEqual(sums);
      expect((await one.ledger.verify()).accounts.map(({ differenceNanos }) => differenceNanos)).toEqual([
        0n,
        0n,
        0n,
      ]);
    });

    it('catch up with settlements made while the database was unavailable, also after a restart', async () => {
      const url = await server.createDatabase();
      const [path, warnings] = [directory(), [] as string[]];
      const [one, other] = [await open(url, path, warnings), await open(url)];
      await spendOn(one, 'one-', 60);
      const spending = spendOn(other, 'other-', 60);
      server.pause();
      await new Promise((resolve) => setTimeout(resolve, 300));
      server.resume();
      await spending;
      await agreed(one);
      await one.close();
      await spendOn(other, 'more-', 60);
      const again = await open(url, path, warnings);
      expect(await agreed(again)).toEqual(await agreed(other));
      expect(warnings.filter((message) => message.includes('events'))).toEqual([]);
      expect(await again.eventFeed.refill()).toBe(180);
    });
  });
}
