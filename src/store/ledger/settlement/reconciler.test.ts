import { afterEach, describe, expect, it } from 'vitest';
import type { Amount } from '../../../ir/amount.ts';
import type { Use } from '../../../ports/money/ledger.ts';
import type { OpenGeneration } from '../books/open-generation.ts';
import { Reconciler } from './reconciler.ts';

const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });

function opened(generationId: string, spent?: bigint): OpenGeneration {
  return {
    generationId,
    scopes: { key: 'k', workspace: 'w', account: 'a' },
    limits: { key: [], workspace: [] },
    reserved: credit(9n),
    acceptedAtMs: 0,
    row: { model: 'm' },
    checkpoint: spent === undefined ? null : { spent: credit(spent), atMs: 1, row: { x: 1 }, sequence: 1 },
  };
}

describe('the reconciler', () => {
  let monotonicMs = 0;
  let wallMs = 1_000_000;
  let generationMs = 1000;
  let fails = false;
  /** What settling waits for. */
  let waits: Promise<void> = Promise.resolve();
  const open = new Map<string, OpenGeneration>();
  const settled: [string, Use][] = [];
  const told: [string, Record<string, unknown>][] = [];
  const reconciler = () =>
    new Reconciler({
      open: () => open,
      ledger: {
        async settle(id, use) {
          await waits;
          if (fails) throw new Error('the disk fails');
          settled.push([id, use]);
          open.delete(id);
          return { charge: use.used, writtenOffNanos: 0n };
        },
      },
      generationMs: () => generationMs,
      clock: { now: () => wallMs, monotonic: () => monotonicMs },
      warn: (message, fields = {}) => told.push([message, fields]),
      leewayMs: 500,
    });

  afterEach(() => {
    open.clear();
    settled.length = 0;
    told.length = 0;
    generationMs = 1000;
    fails = false;
  });

  it('settles generations that are open for too long by their last checkpoint, and logs it', async () => {
    const under = reconciler();
    open.set('old', opened('old', 4n));
    await under.settleOverdue();
    monotonicMs += 1500;
    open.set('new', opened('new'));
    await under.settleOverdue();
    expect(settled).toEqual([]);
    monotonicMs += 1;
    await under.settleOverdue();
    expect(settled).toMatchObject([['old', { used: credit(4n), row: { x: 1, finish_reason: 'error' } }]]);
    expect(told).toMatchObject([[expect.stringContaining('never settled'), { generation_id: 'old' }]]);
    expect(under.reconciled).toBe(1);
    expect([...open.keys()]).toEqual(['new']);
    under.close();
  });

  it('charges nothing where there was no output', async () => {
    const under = reconciler();
    open.set('silent', opened('silent'));
    await under.settleOverdue();
    monotonicMs += 2000;
    await under.settleOverdue();
    expect(settled).toMatchObject([['silent', { used: credit(0n) }]]);
    under.close();
  });

  it('is not misled by a wall clock that is set, nor by a limit that is lowered', async () => {
    const under = reconciler();
    open.set('g', opened('g'));
    await under.settleOverdue();
    wallMs += 86_400_000;
    generationMs = 1;
    monotonicMs += 1000;
    await under.settleOverdue();
    expect(settled).toEqual([]);
    under.close();
  });

  it('settles once what takes longer than its interval', async () => {
    const under = reconciler();
    open.set('g', opened('g'));
    await under.settleOverdue();
    monotonicMs += 2000;
    let goOn = () => {};
    waits = new Promise((resolve) => {
      goOn = resolve;
    });
    const first = under.settleOverdue();
    await under.settleOverdue();
    goOn();
    await first;
    expect(settled).toHaveLength(1);
    expect(under.reconciled).toBe(1);
    under.close();
  });

  it('tries again what could not be settled', async () => {
    const under = reconciler();
    open.set('g', opened('g'));
    await under.settleOverdue();
    monotonicMs += 2000;
    fails = true;
    await under.settleOverdue();
    expect(under.reconciled).toBe(0);
    expect(told).toMatchObject([[expect.stringContaining('tried again'), { generation_id: 'g' }]]);
    fails = false;
    await under.settleOverdue();
    expect(under.reconciled).toBe(1);
    under.close();
  });
});
