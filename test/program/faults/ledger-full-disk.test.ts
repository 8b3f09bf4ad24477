import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Amount } from '../../../src/ir/amount.ts';
import { openEmbeddedLedger } from '../../../src/store/ledger/embedded/open-embedded-ledger.ts';
import type { OpenedLedger } from '../../../src/store/ledger/opened-ledger.ts';
import { MemoryGenerations } from '../../adapters/contracts/memory-generations.ts';
import { MemoryMark } from '../../adapters/contracts/memory-mark.ts';
import { JournalDisk } from './journal-disk.ts';

const NOW = Date.parse('2025-06-15T12:00:00Z');
const RESERVED_BYTES = 4_000;

const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });

describe('a ledger on a disk that is full', () => {
  let disk: JournalDisk;
  let generations: MemoryGenerations;
  let mark: MemoryMark;
  let warnings: string[];
  let opened: OpenedLedger;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    disk = new JournalDisk();
    generations = new MemoryGenerations();
    mark = new MemoryMark();
    warnings = [];
    opened = await open();
    await done(opened.ledger.grant('a', 1_000n, NOW));
    for (const id of ['g1', 'g2', 'g3']) await done(reserve(id));
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  const open = () =>
    done(
      openEmbeddedLedger({
        directory: '',
        files: disk,
        generations,
        mark,
        exists: { key: new Set(['k']), workspace: new Set(['w']) },
        durability: () => 'power',
        clock: { now: () => NOW, monotonic: () => 0 },
        warn: (message) => warnings.push(message),
        patienceMs: 1_000,
        journal: { reservedBytes: RESERVED_BYTES },
      }),
    );

  const reserve = (generationId: string) =>
    opened.ledger.reserve(
      {
        generationId,
        scopes: { key: 'k', workspace: 'w', account: 'a' },
        limits: { key: [], workspace: [] },
        atMs: NOW,
        row: { filling: 'x'.repeat(500) },
      },
      () => credit(100n),
    );

  const settle = (id: string) =>
    opened.ledger.settle(id, { used: credit(10n), row: { filling: 'x'.repeat(500) }, atMs: NOW });

  /** Lets disk and timers go on until something is done. */
  async function done<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const seen = work.finally(() => {
      isDone = true;
    });
    seen.catch(() => {});
    while (!isDone) {
      await disk.quiesce();
      if (!isDone) vi.advanceTimersByTime(50);
    }
    return work;
  }

  const heal = async () => {
    disk.planNothing();
    for (let round = 0; round < 10; round++) {
      vi.advanceTimersByTime(100);
      await disk.quiesce();
    }
  };

  it('refuses new generations, settles open ones in reserved space, and resumes by itself', async () => {
    disk.capacity = disk.usedBytes;
    await expect(done(Promise.all([reserve('g4'), reserve('g5')]))).resolves.toMatchObject([
      { ok: true },
      { ok: true },
    ]);
    expect(opened.ledger.isAvailable).toBe(false);
    await expect(done(reserve('g6'))).rejects.toMatchObject({ name: 'LedgerUnavailable' });
    await expect(done(reserve('g6'))).rejects.toMatchObject({ name: 'LedgerUnavailable' });
    expect(warnings).toEqual(['the ledger cannot be written; no paid work is begun until it can']);
    expect(await done(opened.ledger.topUp('g1', () => credit(1n), NOW))).toMatchObject({ ok: false });
    expect(await done(settle('g1'))).toMatchObject({ charge: credit(10n) });
    await heal();
    expect(opened.ledger.isAvailable).toBe(true);
    expect(await done(reserve('g6'))).toMatchObject({ ok: true });
    expect(await opened.ledger.statementOf('a')).toMatchObject({ settledNanos: 10n, reservedNanos: 500n });
  });

  it('without reserved space fails in time, and records everything once there is space', async () => {
    disk.plan(0, { kind: 'ENOSPC', done: 0, times: 1_000_000 });
    await expect(done(reserve('g4'))).rejects.toMatchObject({ name: 'LedgerUnavailable' });
    await expect(done(settle('g1'))).rejects.toThrow('the ledger cannot be written at the moment');
    await expect(done(settle('g1'))).rejects.toMatchObject({ name: 'LedgerUnavailable' });
    await done(opened.ledger.checkpoint('g2', { used: credit(5n), row: {}, atMs: NOW }));
    expect(await opened.ledger.statementOf('a')).toMatchObject({ settledNanos: 10n, reservedNanos: 200n });
    expect(opened.recentGenerations.recent('g1')).toBeUndefined();
    expect(warnings).toEqual(['the ledger cannot be written; no paid work is begun until it can']);
    await heal();
    expect(await done(settle('g1'))).toMatchObject({ charge: credit(10n) });
    await heal();
    expect(warnings.at(-1)).toBe('the ledger can be written again');
    expect(opened.ledger.isAvailable).toBe(true);
    await done(settle('g2'));

    vi.clearAllTimers();
    disk.endProcess();
    opened = await open();
    expect(opened.report.settledAfterCrash).toBe(1);
    expect(await opened.ledger.statementOf('a')).toMatchObject({ settledNanos: 20n, reservedNanos: 0n });
    await done(opened.ledger.verify());
    // g4 was never begun.
    expect([...generations.rows.keys()].sort()).toEqual(['g1', 'g2', 'g3']);
  });

  it('opens as unavailable, and settles open generations once there is space', async () => {
    vi.clearAllTimers();
    disk.endProcess();
    disk.capacity = disk.usedBytes;
    opened = await open();
    expect(opened.ledger.openReservations).toBe(0);
    await heal();
    expect(opened.ledger.isAvailable).toBe(true);
    await done(opened.ledger.verify());
    expect([...generations.rows.keys()].sort()).toEqual(['g1', 'g2', 'g3']);
  });
});
