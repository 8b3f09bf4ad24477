import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryGenerations } from '../../../../test/adapters/contracts/memory-generations.ts';
import { MemoryMark } from '../../../../test/adapters/contracts/memory-mark.ts';
import { temporaryDirectory } from '../../../../test/adapters/contracts/temporary-directory.ts';
import type { Amount } from '../../../ir/amount.ts';
import { systemClock } from '../../../kit/time/clock.ts';
import type { Limits, ScopeIds } from '../../../ports/money/ledger.ts';
import type { OpenedLedger } from '../opened-ledger.ts';
import {
  type EmbeddedLedgerSettings,
  type OpenedEmbeddedLedger,
  openEmbeddedLedger,
} from './open-embedded-ledger.ts';

const NOW = Date.parse('2025-06-15T12:00:00Z');
const SCOPES: ScopeIds = { key: 'k', workspace: 'w', account: 'a' };
const NO_LIMITS: Limits = { key: [], workspace: [] };

const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });

describe('the embedded ledger', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;
  let generations: MemoryGenerations;
  let mark: MemoryMark;
  let warnings: string[];
  let opened: OpenedEmbeddedLedger[];
  let left: { remove(): void }[];

  beforeEach(() => {
    temporary = temporaryDirectory();
    generations = new MemoryGenerations();
    mark = new MemoryMark();
    warnings = [];
    opened = [];
    left = [];
  });

  afterEach(async () => {
    for (const { close } of opened) await close();
    for (const each of [temporary, ...left]) each.remove();
  });

  const open = async (more: Partial<EmbeddedLedgerSettings> = {}): Promise<OpenedEmbeddedLedger> => {
    const one = await openEmbeddedLedger({
      directory: temporary.path,
      generations,
      mark,
      exists: { key: new Set(['k']), workspace: new Set(['w']) },
      durability: () => 'process',
      clock: { ...systemClock, now: () => NOW },
      warn: (message) => warnings.push(message),
      journal: { reservedBytes: 1024, segmentBytes: 4096 },
      ...more,
    });
    opened.push(one);
    return one;
  };

  const reserve = ({ ledger }: OpenedLedger, id: string, amount: Amount, scopes = SCOPES) =>
    ledger.reserve(
      { generationId: id, scopes, limits: NO_LIMITS, atMs: NOW, row: { id, model: 'm' } },
      () => amount,
    );

  const spend = async (one: OpenedLedger, id: string, amount: Amount, scopes = SCOPES) => {
    await reserve(one, id, amount, scopes);
    await one.ledger.settle(id, { used: amount, row: { id, finish_reason: 'stop' }, atMs: NOW });
  };

  const file = (name: string) => join(temporary.path, 'journal', name);
  const segments = () => readdirSync(file('')).filter((name) => name.endsWith('.journal'));

  /** What was opened is left as it is: from now on a copy of what it had on the disk is used. */
  const crash = () => {
    const copy = temporaryDirectory();
    cpSync(temporary.path, copy.path, { recursive: true });
    left.push(temporary);
    temporary = copy;
    const rows = new MemoryGenerations();
    for (const [id, row] of generations.rows) rows.rows.set(id, row);
    generations = rows;
    const { sequence } = mark;
    mark = new MemoryMark();
    mark.sequence = sequence;
  };

  it('continues where it was closed', async () => {
    const first = await open();
    await first.ledger.grant('a', 100n, NOW);
    await spend(first, 'g1', credit(7n));
    await first.close();
    expect(generations.rows.size).toBe(1);
    const second = await open();
    expect(await second.ledger.statementOf('a')).toMatchObject({
      grantedNanos: 100n,
      settledNanos: 7n,
      leftNanos: 93n,
    });
    expect(second.report).toMatchObject({ settledAfterCrash: 0, forgotten: 0, tornTailBytes: 0 });
    await expect(reserve(second, 'g1', credit(1n))).rejects.toThrow('accepted before');
  });

  it('settles what was never settled, once it must have ended', async () => {
    const one = await open({ generationMs: () => 1, leewayMs: 1, reconcileMs: 5 });
    await one.ledger.grant('a', 100n, NOW);
    await reserve(one, 'forgotten', credit(20n));
    await one.ledger.checkpoint('forgotten', { used: credit(8n), row: { x: 1 }, atMs: NOW });
    await expect.poll(() => one.ledger.reconciled).toBe(1);
    expect(one.ledger.openReservations).toBe(0);
    expect(await one.ledger.statementOf('a')).toMatchObject({ settledNanos: 8n, leftNanos: 92n });
    expect(warnings).toEqual([expect.stringContaining('fault of the gateway')]);
  });

  it('settles what a crash left open as the checkpoint says, and writes off the rest of what was reserved', async () => {
    const first = await open();
    await first.ledger.grant('a', 100n, NOW);
    await reserve(first, 'silent', credit(20n));
    await reserve(first, 'streaming', credit(30n));
    await first.ledger.checkpoint('streaming', {
      used: credit(12n),
      row: { tokens_completion: 3, usage_source: 'measured' },
      atMs: NOW,
    });
    await reserve(first, 'never sent', credit(5n));
    await first.ledger.void('never sent', NOW);
    crash();
    const second = await open();
    expect(second.report.settledAfterCrash).toBe(2);
    expect(second.ledger.openReservations).toBe(0);
    expect(await second.ledger.statementOf('a')).toEqual({
      accountId: 'a',
      grantedNanos: 100n,
      settledNanos: 12n,
      reservedNanos: 0n,
      leftNanos: 88n,
      writtenOffNanos: 38n,
      differenceNanos: 0n,
      fault: null,
    });
    expect(second.recentGenerations.recent('silent')?.row).toEqual({
      id: 'silent',
      model: 'm',
      finish_reason: 'error',
      cancelled: false,
      usage_source: 'none',
      write_offs: [{ cause: 'cut', nanos: '20' }],
    });
    await expect.poll(() => generations.rows.size).toBe(2);
    expect(generations.rows.get('streaming')).toMatchObject({
      charge: credit(12n),
      row: { finish_reason: 'error', cancelled: false, tokens_completion: 3, usage_source: 'measured' },
    });
    await expect.poll(() => second.recentGenerations.recent('silent')).toBeUndefined();
    crash();
    const third = await open();
    expect(third.report.settledAfterCrash).toBe(0);
    expect((await third.ledger.statementOf('a')).settledNanos).toBe(12n);
  });

  it('returns the charge of a generation that it settled itself', async () => {
    const first = await open();
    await reserve(first, 'g1', credit(20n));
    await first.ledger.checkpoint('g1', { used: credit(3n), row: {}, atMs: NOW });
    crash();
    const second = await open();
    expect(await second.ledger.settle('g1', { used: credit(9n), row: {}, atMs: NOW })).toEqual({
      charge: credit(3n),
      writtenOffNanos: 17n,
    });
  });

  it('forgets keys and workspaces that are gone', async () => {
    const first = await open();
    await spend(first, 'g1', credit(7n), { key: 'gone', workspace: 'w', account: 'a' });
    await spend(first, 'g2', credit(1n));
    await first.close();
    const second = await open();
    expect(second.report.forgotten).toBe(1);
    const spendings = await second.ledger.spendingOf('key', ['gone', 'k'], NOW);
    expect(spendings.map((spending) => spending.credit.lifetime)).toEqual([0n, 1n]);
    expect((await second.ledger.statementOf('a')).settledNanos).toBe(8n);
    await second.close();
    expect((await open()).report.forgotten).toBe(0);
  });

  it('hands over again what was settled before a crash, and ignores rows that exist', async () => {
    const first = await open();
    for (let index = 0; index < 40; index++) await spend(first, `g${index}`, credit(1n));
    generations.failure = new Error('no rows today');
    for (let index = 40; index < 50; index++) await spend(first, `g${index}`, credit(1n));
    await expect
      .poll(() => warnings)
      .toContain('rows of generations cannot be written; what was settled waits in the journal');
    crash();
    expect(generations.rows.size).toBeLessThan(50);
    await open();
    await expect.poll(() => generations.rows.size).toBe(50);
  });

  it('keeps the journal short under traffic, without losing anything', async () => {
    const first = await open({ snapshotBytes: 10_000 });
    let most = 0;
    for (let index = 0; index < 300; index++) {
      await spend(first, `g${index}`, credit(1n));
      most = Math.max(most, segments().length);
    }
    expect(most).toBeGreaterThan(3);
    await expect.poll(() => generations.rows.size).toBe(300);
    for (let index = 300; index < 340; index++) await spend(first, `g${index}`, credit(1n));
    await first.close();
    // 340 generations take some 50 segments of this size.
    expect(most).toBeLessThan(40);
    expect(segments().length).toBeLessThan(8);
    const second = await open();
    expect((await second.ledger.statementOf('a')).settledNanos).toBe(340n);
    expect(await second.ledger.verify()).toMatchObject({ generations: 340, openReservations: 0 });
  });

  it('does not grow by being opened and closed, nor by being opened and killed', async () => {
    await spend(await open(), 'g', credit(1n));
    for (let round = 0; round < 6; round++) {
      crash();
      await open();
    }
    await opened.at(-1)?.close();
    for (let round = 0; round < 4; round++) await (await open()).close();
    expect(segments().length).toBeLessThan(4);
    expect((await (await open()).ledger.statementOf('a')).settledNanos).toBe(1n);
  });

  it('keeps segments that rows still need, and reads them when there is too much for memory', async () => {
    generations.failure = new Error('no rows today');
    const first = await open({ snapshotBytes: 10_000, maxPendingRows: 20 });
    for (let index = 0; index < 300; index++) await spend(first, `g${index}`, credit(1n));
    expect(generations.rows.size).toBe(0);
    generations.failure = undefined;
    await expect.poll(() => generations.rows.size, { timeout: 20_000 }).toBe(300);
    for (let index = 300; index < 320; index++) await spend(first, `g${index}`, credit(1n));
    await first.close();
    expect(generations.rows.size).toBe(320);
    expect(segments().length).toBeLessThan(8);
  });

  it('lets segments go that were kept for rows, also when nothing else happens', async () => {
    generations.failure = new Error('no rows today');
    const first = await open({ snapshotBytes: 10_000, maxPendingRows: 20 });
    for (let index = 0; index < 200; index++) await spend(first, `g${index}`, credit(1n));
    crash();
    expect(segments().length).toBeGreaterThan(20);
    const second = await open({ maxPendingRows: 20 });
    await second.close();
    expect(generations.rows.size).toBe(200);
    expect(segments().length).toBeLessThan(3);
  });

  it('makes lost rows anew as far as the journal reaches', async () => {
    const first = await open();
    for (let index = 0; index < 30; index++) await spend(first, `g${index}`, credit(1n));
    await expect.poll(() => generations.rows.size).toBe(30);
    generations.rows.clear();
    expect(await first.ledger.rebuild()).toBe(30);
  });

  describe('with a damaged snapshot', () => {
    const damage = () => {
      const bytes = readFileSync(file('ledger.snapshot'));
      const place = bytes.length >> 1;
      bytes[place] = (bytes[place] ?? 0) ^ 1;
      writeFileSync(file('ledger.snapshot'), bytes);
    };

    it('starts while the journal has everything', async () => {
      const first = await open();
      await spend(first, 'g1', credit(7n));
      await first.close();
      damage();
      const second = await open();
      expect((await second.ledger.statementOf('a')).settledNanos).toBe(7n);
      expect(warnings).toEqual(['the snapshot of the ledger is damaged; the journal had everything']);
    });

    it.each([
      ['damaged', damage, 'ledger.snapshot is damaged: its checksum is wrong'],
      ['cut', () => truncateSync(file('ledger.snapshot'), 100), 'ledger.snapshot is damaged'],
      ['missing', () => rmSync(file('ledger.snapshot')), 'ledger.snapshot is missing'],
    ])('refuses to start when it is %s and the journal has not', async (_, harm, message) => {
      const first = await open({ snapshotBytes: 5_000 });
      for (let index = 0; index < 100; index++) await spend(first, `g${index}`, credit(1n));
      await first.close();
      harm();
      await expect(open()).rejects.toThrow(message);
      await expect(open()).rejects.toMatchObject({ name: 'DataDirectoryProblem' });
    });

    it('refuses to start when segments are missing behind it', async () => {
      const first = await open({ snapshotBytes: 5_000 });
      for (let index = 0; index < 100; index++) await spend(first, `g${index}`, credit(1n));
      await first.close();
      for (const name of segments()) rmSync(file(name));
      await expect(open()).rejects.toThrow('is missing, where the journal goes on');
    });
  });

  describe('whose journal is not the one that the database knows of', () => {
    const spendSome = async (from: number) => {
      const one = await open();
      for (let index = from; index < from + 3; index++) await spend(one, `g${index}`, credit(1n));
      await one.close();
    };

    /** What is left of a journal: nothing, or what an older one had. */
    const LOSSES: [string, () => void, string][] = [
      ['is gone', () => rmSync(file(''), { recursive: true }), 'holds no records'],
      [
        'has lost its segments and its snapshot',
        () => {
          for (const name of [...segments(), 'ledger.snapshot']) rmSync(file(name));
        },
        'holds no records',
      ],
      [
        'is an older one',
        () => {
          rmSync(file(''), { recursive: true });
          cpSync(`${file('')}.old`, file(''), { recursive: true });
        },
        'ends at record 6',
      ],
    ];

    beforeEach(async () => {
      await spendSome(0);
      cpSync(file(''), `${file('')}.old`, { recursive: true });
      await spendSome(3);
    });

    it.each(LOSSES)(
      'refuses to start when it %s, says what to do and changes nothing',
      async (_, lose, state) => {
        lose();
        const content = () =>
          readdirSync(temporary.path, { recursive: true, withFileTypes: true }).flatMap((entry) =>
            entry.isFile() ? readFileSync(join(entry.parentPath, entry.name)).toString('latin1') : [],
          );
        const before = content();
        for (let attempt = 0; attempt < 2; attempt++) {
          await expect(open()).rejects.toMatchObject({
            name: 'DataDirectoryProblem',
            message: expect.stringMatching(
              new RegExp(`${state}, but the database beside it knows of record 12.*same backup.*accept-loss`),
            ),
          });
        }
        expect(content()).toEqual(before);
        expect(mark.sequence).toBe(12);
      },
    );

    it.each(LOSSES)(
      'goes on when it %s and that is accepted, and then starts as ever',
      async (_, lose, state) => {
        lose();
        const endsAt = state === 'ends at record 6' ? 6 : 0;
        const losses: unknown[] = [];
        const accepting = await open({ acceptLoss: (loss) => losses.push(loss) });
        expect(losses).toEqual([{ endsAt, knownTo: 12 }]);
        expect((await accepting.ledger.statementOf('a')).settledNanos).toBe(BigInt(endsAt / 2));
        await accepting.close();
        expect(mark.sequence).toBe(endsAt);
        await spendSome(10);
        expect(mark.sequence).toBe(endsAt + 6);
        expect((await (await open()).ledger.statementOf('a')).settledNanos).toBe(BigInt(endsAt / 2) + 3n);
      },
    );

    it('has nothing to accept while nothing is lost', async () => {
      const acceptLoss = () => {
        throw new Error('nothing is lost');
      };
      expect((await (await open({ acceptLoss })).ledger.statementOf('a')).settledNanos).toBe(6n);
    });

    it('is noticed from the first record on', async () => {
      rmSync(file(''), { recursive: true });
      mark = new MemoryMark();
      const one = await open();
      await one.ledger.grant('a', 5n, NOW);
      await expect.poll(() => mark.sequence).toBe(1);
      crash();
      rmSync(file(''), { recursive: true });
      await expect(open()).rejects.toThrow('holds no records, but the database beside it knows of record 1');
    });

    it('is noticed in a directory from before there was a mark, once it was opened', async () => {
      mark = new MemoryMark();
      await open();
      expect(mark.sequence).toBe(12);
    });

    it('goes on while the database cannot be written, and writes the mark later', async () => {
      mark.failure = new Error('no database today');
      const one = await open();
      for (let index = 20; index < 23; index++) await spend(one, `g${index}`, credit(1n));
      await one.close();
      expect(mark.sequence).toBe(12);
      expect(warnings).toEqual([
        'the mark of the ledger cannot be written to the database; a lost journal would not be noticed',
      ]);
      mark.failure = undefined;
      await open();
      expect(mark.sequence).toBe(18);
    });

    it('never knows of more than a damaged snapshot and a whole journal have', async () => {
      rmSync(file(''), { recursive: true });
      mark = new MemoryMark();
      await spendSome(0);
      writeFileSync(file('ledger.snapshot'), 'damaged');
      expect((await (await open()).ledger.statementOf('a')).settledNanos).toBe(3n);
      expect(mark.sequence).toBe(6);
    });
  });

  it('refuses a record of a newer version, with its place', async () => {
    const { openJournal } = await import('../../journal/open-journal.ts');
    const { journal } = await openJournal({ directory: file(''), reservedBytes: 0, replay() {} });
    await journal.append(Buffer.from('\u0002{}'), 'power');
    await journal.close();
    await expect(open()).rejects.toThrow(/0000000001\.journal, record that ends at byte \d+: .*version 2/);
  });
});
