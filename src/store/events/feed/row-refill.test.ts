import { describe, expect, it } from 'vitest';
import { MemoryGenerations } from '../../../../test/contracts/memory-generations.ts';
import { GenerationRefused, type StoredGeneration } from '../../../ports/generations.ts';
import { type MissingRows, RowRefill } from './row-refill.ts';

const generationOf = (number: number): StoredGeneration => ({
  id: `g${String(number).padStart(5, '0')}`,
  scopes: { key: 'k', workspace: 'w', account: 'a' },
  settledAtMs: 1_000 + number,
  charge: { creditNanos: 1n, byokNanos: 0n },
  writtenOffNanos: 0n,
  writtenOffCause: null,
  row: {},
});

/** Rows, events, and what is noted: all that outlives a process. */
class Installation {
  readonly rows = new MemoryGenerations();
  readonly events = new MemoryGenerations();
  readonly warnings: string[] = [];
  /** Ids in the order in which they were handed over, as often as they were. */
  readonly handedOver: string[] = [];
  noted: MissingRows | undefined;

  settle(from: number, to: number): void {
    for (let number = from; number < to; number++) {
      const generation = generationOf(number);
      this.rows.rows.set(generation.id, generation);
    }
  }

  open(isFileMissing = false): Promise<RowRefill> {
    return RowRefill.open({
      projection: {
        name: 'events',
        add: async (batch) => {
          await this.events.add(batch);
          this.handedOver.push(...batch.map(({ id }) => id));
        },
      },
      rows: this.rows,
      file: {
        read: () => this.noted,
        write: async (missing) => {
          this.noted = missing;
        },
      },
      isFileMissing,
      warn: (message) => this.warnings.push(message),
      waitMs: 5,
    });
  }
}

const rowsThere = async () => {};

describe('RowRefill', () => {
  it('notes nothing before the first row, and then that there are events', async () => {
    const one = new Installation();
    const refill = await one.open(true);
    refill.start(rowsThere);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(one.noted).toBeUndefined();
    refill.fileCreated();
    await refill.eventsWritten();
    expect(one.noted).toEqual({ behind: null });
    expect(refill.isRefilling).toBe(false);
    await refill.close();
    expect(one.warnings).toEqual([]);
  });

  it('misses nothing of a new installation, whose first rows come from the journal too', async () => {
    const one = new Installation();
    const refill = await one.open(true);
    one.settle(0, 4_500);
    const states = new Set<boolean>();
    refill.start(async () => {
      states.add(refill.isRefilling);
    });
    await expect
      .poll(() => states.add(refill.isRefilling) && one.noted, { interval: 1 })
      .toEqual({ behind: null });
    expect(states).toEqual(new Set([false]));
    await refill.close();
  });

  it('reads all rows in order if no position is noted', async () => {
    const one = new Installation();
    one.settle(0, 4_500);
    const refill = await one.open(true);
    expect(refill.isRefilling).toBe(true);
    refill.start(rowsThere);
    await expect.poll(() => one.noted).toEqual({ behind: null });
    expect(refill.isRefilling).toBe(false);
    expect(one.handedOver).toEqual([...one.rows.rows.keys()]);
    expect(one.warnings).toEqual([]);
    await refill.close();
  });

  it('feeds nothing when no rows are missing', async () => {
    const one = new Installation();
    one.settle(0, 10);
    one.noted = { behind: null };
    const refill = await one.open();
    refill.start(rowsThere);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(one.handedOver).toEqual([]);
    await refill.close();
  });

  it('goes on after a restart where it was', async () => {
    const one = new Installation();
    one.settle(0, 10);
    one.noted = { behind: generationOf(6) };
    const refill = await one.open();
    refill.start(rowsThere);
    await expect.poll(() => one.noted).toEqual({ behind: null });
    expect(one.handedOver).toEqual(['g00007', 'g00008', 'g00009']);
    await refill.close();
  });

  it('reports what does not come back when existing events are lost, and first notes all of it as owed', async () => {
    const one = new Installation();
    one.settle(0, 10);
    one.noted = { behind: null };
    const refill = await one.open(true);
    expect(one.noted).toEqual({ behind: { settledAtMs: Number.MIN_SAFE_INTEGER, id: '' } });
    expect(one.warnings).toEqual([expect.stringContaining('do not come back')]);
    await (await one.open(true)).close();
    expect(one.warnings).toHaveLength(1);
    refill.start(rowsThere);
    await expect.poll(() => one.events.rows.size).toBe(10);
    await refill.close();
  });

  it('reads what was settled since a time, once it has rows', async () => {
    const one = new Installation();
    one.settle(0, 10);
    one.noted = { behind: null };
    const refill = await one.open();
    const waiting: (() => void)[] = [];
    refill.start(() => new Promise((resolve) => waiting.push(resolve)));
    await refill.deferToRows(generationOf(8).settledAtMs);
    expect(one.noted).toMatchObject({ behind: { settledAtMs: 1_008 } });
    await expect.poll(() => waiting.length).toBe(1);
    // Missing while the others are under way: they may be past it already.
    await refill.deferToRows(generationOf(3).settledAtMs);
    one.settle(10, 12);
    waiting[0]?.();
    await expect.poll(() => waiting.length).toBe(2);
    expect(one.handedOver).toEqual(['g00008', 'g00009', 'g00010', 'g00011']);
    waiting[1]?.();
    await expect.poll(() => one.noted).toEqual({ behind: null });
    expect(one.events.rows.size).toBe(9);
    await refill.close();
  });

  it('retries while the events are unavailable, and logs that once', async () => {
    const one = new Installation();
    one.settle(0, 10);
    one.events.failure = new Error('away');
    const refill = await one.open(true);
    refill.start(rowsThere);
    await new Promise((resolve) => setTimeout(resolve, 40));
    await expect(refill.feedAll()).rejects.toThrow('away');
    expect(one.warnings).toEqual([
      'events cannot be brought in; what was settled waits in the rows of generations',
    ]);
    one.events.failure = undefined;
    await expect.poll(() => one.events.rows.size).toBe(10);
    await expect.poll(() => one.warnings.at(-1)).toBe('events are brought in again');
    await refill.close();
  });

  it('skips rows that cannot become events, and goes on', async () => {
    const one = new Installation();
    one.settle(0, 10);
    const add = one.events.add.bind(one.events);
    one.events.add = async (batch) => {
      if (batch.some(({ id }) => id === 'g00004')) throw new GenerationRefused('too large');
      await add(batch);
    };
    const refill = await one.open(true);
    await refill.feedAll();
    expect(one.events.rows.size).toBe(9);
    expect(one.warnings).toEqual([expect.stringContaining('the generation g00004 can never be')]);
    await refill.close();
  });
});
