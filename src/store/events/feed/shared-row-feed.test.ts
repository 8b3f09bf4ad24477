import { describe, expect, it } from 'vitest';
import { MemoryGenerations } from '../../../../test/contracts/memory-generations.ts';
import type { StoredGeneration } from '../../../ports/generations.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import type { BookedPosition } from '../../sql/stores/booked-generations.ts';
import { type FeedProgress, SharedRowFeed } from './shared-row-feed.ts';

/** Rows of a shared database, events of one gateway, and what it noted. */
class Shared {
  readonly events = new MemoryGenerations();
  readonly warnings: string[] = [];
  readonly handedOver: string[] = [];
  readonly rows: { readonly place: BookedPosition; readonly generation: StoredGeneration }[] = [];
  history = 'server/1';
  adoptions = 0;
  reads = 0;
  /** What reading rejects with, as long as it is there. */
  failure: Error | undefined;
  noted: FeedProgress | undefined;

  book(from: number, to: number, bookedIn = 700): void {
    for (let number = from; number < to; number++) {
      const id = `g${String(number).padStart(5, '0')}`;
      const settledAtMs = 1_000 + number;
      this.rows.push({
        place: { bookedIn: String(bookedIn), settledAtMs, id },
        generation: {
          id,
          scopes: { key: 'k', workspace: 'w', account: 'a' },
          settledAtMs,
          charge: { creditNanos: 1n, byokNanos: 0n },
          writtenOffNanos: 0n,
          writtenOffCause: null,
          row: {},
        },
      });
    }
  }

  async feeding(isFileMissing = false): Promise<SharedRowFeed> {
    const feed = await SharedRowFeed.open({
      projection: {
        name: 'events',
        add: async (batch) => {
          await this.events.add(batch);
          this.handedOver.push(...batch.map(({ id }) => id));
        },
      },
      rows: {
        after: async (place, limit) => {
          this.reads += 1;
          if (this.failure !== undefined) throw this.failure;
          const behind = this.rows.filter((row) => isBehind(row.place, place)).slice(0, limit);
          return {
            history: this.history,
            generations: behind.map(({ generation }) => generation),
            end: behind.at(-1)?.place,
          };
        },
        resetFutureBookings: async () => {
          this.adoptions += 1;
        },
      },
      file: {
        read: () => this.noted,
        write: async (progress) => {
          this.noted = progress;
        },
      },
      isFileMissing,
      warn: (message) => this.warnings.push(message),
      everyMs: 5,
    });
    feed.start();
    return feed;
  }
}

function isBehind(one: BookedPosition, other: BookedPosition): boolean {
  return (
    (Number(one.bookedIn) - Number(other.bookedIn) ||
      one.settledAtMs - other.settledAtMs ||
      (one.id > other.id ? 1 : -1)) > 0
  );
}

describe('SharedRowFeed', () => {
  it('reads all rows, then new ones, each once, and continues after a restart', async () => {
    const shared = new Shared();
    shared.book(0, 4_500);
    const first = await shared.feeding(true);
    await expect.poll(() => shared.events.rows.size).toBe(4_500);
    shared.book(4_500, 4_510, 701);
    await expect.poll(() => shared.events.rows.size).toBe(4_510);
    await first.close();
    shared.book(4_510, 4_520, 702);
    const second = await shared.feeding();
    await expect.poll(() => shared.events.rows.size).toBe(4_520);
    expect(shared.handedOver).toHaveLength(4_520);
    expect(shared.noted).toMatchObject({ bookedIn: '702', history: 'server/1' });
    expect(shared.warnings).toEqual([]);
    await second.close();
  });

  it('polls once an interval while no rows come, and notes nothing', async () => {
    const shared = new Shared();
    const feed = await shared.feeding(true);
    await expect.poll(() => shared.reads).toBeGreaterThan(6);
    expect(shared.adoptions).toBe(1);
    expect(shared.noted).toBeUndefined();
    await feed.close();
  });

  it('begins anew on a server with another history, whose transaction ids differ', async () => {
    const shared = new Shared();
    shared.book(0, 3, 900);
    const first = await shared.feeding(true);
    await expect.poll(() => shared.events.rows.size).toBe(3);
    await first.close();
    shared.rows.splice(0);
    shared.history = 'server/2';
    shared.book(3, 6, 20);
    const second = await shared.feeding();
    await expect.poll(() => shared.events.rows.size).toBe(6);
    expect(shared.adoptions).toBe(2);
    await second.close();
  });

  it('reports what does not come back when events are lost, and reads all rows', async () => {
    const shared = new Shared();
    shared.book(0, 3);
    shared.noted = { bookedIn: '800', settledAtMs: 1, id: 'x', history: shared.history };
    const feed = await shared.feeding(true);
    await expect.poll(() => shared.events.rows.size).toBe(3);
    expect(shared.warnings).toEqual([expect.stringContaining('do not come back')]);
    await feed.close();
  });

  it('reads all rows again on request, or if the events began anew', async () => {
    const shared = new Shared();
    shared.book(0, 3);
    const feed = await shared.feeding(true);
    await expect.poll(() => shared.events.rows.size).toBe(3);
    await feed.feedAll();
    expect(shared.handedOver).toHaveLength(6);
    feed.fileCreated();
    await expect.poll(() => shared.handedOver.length).toBe(9);
    await expect.poll(() => shared.noted?.bookedIn).toBe('700');
    await feed.close();
  });

  it('does not log an unavailable database, and logs once that events cannot be written', async () => {
    const shared = new Shared();
    shared.failure = new DatabaseUnavailable(new Error('away'));
    shared.events.failure = new Error('no room');
    const feed = await shared.feeding(true);
    await expect.poll(() => shared.reads).toBeGreaterThan(4);
    expect(shared.warnings).toEqual([]);
    shared.failure = undefined;
    shared.book(0, 3);
    await expect.poll(() => shared.warnings.length).toBe(1);
    await expect(feed.feedAll()).rejects.toThrow('no room');
    shared.events.failure = undefined;
    await expect
      .poll(() => shared.warnings)
      .toEqual([
        'events cannot be brought in; what was settled waits in the rows of generations',
        'events are brought in again',
      ]);
    expect(shared.events.rows.size).toBe(3);
    await feed.close();
  });
});
