import { afterEach, describe, expect, it } from 'vitest';
import type { RowPlace } from '../../../ports/following/settled-rows.ts';
import { GenerationRefused, type StoredGeneration } from '../../../ports/generations/generations.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import type { EventItem } from '../projection/event-projection.ts';
import { type FeedProgress, RowFeed } from './row-feed.ts';

const opened: RowFeed[] = [];

afterEach(async () => {
  for (const feed of opened.splice(0)) await feed.close();
});

/** Rows of a database, events, and what is noted: all that outlives a process. */
class Installation {
  readonly rows: StoredGeneration[] = [];
  /** A place of another history is not valid. */
  history = 'first';
  /** Ids in the order in which they were fed, as often as they were. */
  readonly fed: string[] = [];
  readonly warnings: string[] = [];
  noted: FeedProgress | undefined;
  reads = 0;
  /** What reading rejects with, as long as it is there. */
  unreadable: Error | undefined;
  /** What feeding rejects with, as long as it is there. */
  away: Error | undefined;
  onFed = () => {};

  add(count: number): readonly StoredGeneration[] {
    for (let index = 0; index < count; index++) {
      const id = `g${this.rows.length}`;
      this.rows.push({ id, settledAtMs: 1_000 } as StoredGeneration);
    }
    return this.rows.slice(-count);
  }

  get events(): ReadonlySet<string> {
    return new Set(this.fed);
  }

  placeAt(index: number): RowPlace {
    return `${this.history} ${index}`;
  }

  async open({ isFileMissing = false, gatherMs }: { isFileMissing?: boolean; gatherMs?: number } = {}) {
    const feed = await RowFeed.open({
      projection: {
        of: ({ id, settledAtMs }) => {
          if (settledAtMs < 0) throw new TypeError('no number');
          return { id } as EventItem;
        },
        add: async (items) => {
          if (this.away !== undefined) throw this.away;
          if (items.some(({ id }) => id === 'refused')) throw new GenerationRefused('too large');
          this.fed.push(...items.map(({ id }) => id));
          this.onFed();
        },
      },
      rows: {
        end: async () => {
          if (this.unreadable !== undefined) throw this.unreadable;
          return this.rows.length === 0 ? null : this.placeAt(this.rows.length);
        },
        behind: async (place, limit) => {
          this.reads += 1;
          if (this.unreadable !== undefined) throw this.unreadable;
          const [history, reached = '0'] = place?.split(' ') ?? [this.history];
          if (history !== this.history) return undefined;
          const from = Number(reached);
          const generations = this.rows.slice(from, from + limit);
          return {
            generations,
            place: generations.length === 0 ? place : this.placeAt(from + generations.length),
          };
        },
        endOf: async (place, added) => {
          if (place === null) return undefined;
          const behind = this.rows.slice(Number(place.split(' ')[1])).map(({ id }) => id);
          const isAll = behind.join() === added.map(({ id }) => id).join();
          return isAll ? this.placeAt(this.rows.length) : undefined;
        },
      },
      file: {
        read: () => this.noted,
        write: async (progress) => {
          this.noted = progress;
        },
      },
      isFileMissing,
      gatherMs,
      warn: (message) => this.warnings.push(message),
      everyMs: 5,
    });
    opened.push(feed);
    return feed;
  }

  async start(options: Parameters<Installation['open']>[0] = {}): Promise<RowFeed> {
    const feed = await this.open(options);
    feed.start();
    return feed;
  }
}

describe('RowFeed', () => {
  it('feeds new rows, each once, and goes on there after a restart', async () => {
    const one = new Installation();
    const first = await one.start({ isFileMissing: true });
    await expect.poll(() => one.reads).toBeGreaterThan(2);
    expect(one.noted).toBeUndefined();
    one.add(4_500);
    await expect.poll(() => one.fed.length).toBe(4_500);
    expect(first.isRefilling).toBe(false);
    await first.close();
    one.add(10);
    await one.start();
    await expect.poll(() => one.fed.length).toBe(4_510);
    expect(one.fed).toEqual(one.rows.map(({ id }) => id));
    expect(one.noted).toEqual({ place: one.placeAt(4_510), refill: null });
    expect(one.warnings).toEqual([]);
  });

  it('feeds all that there are if nothing is noted, and says that it does', async () => {
    const one = new Installation();
    one.add(4_500);
    const feed = await one.open();
    expect(feed.isRefilling).toBe(true);
    feed.start();
    await expect.poll(() => feed.isRefilling).toBe(false);
    expect(one.fed).toEqual(one.rows.map(({ id }) => id));
    expect(one.warnings).toEqual([]);
  });

  it('feeds new rows before all of the earlier ones', async () => {
    const one = new Installation();
    one.add(12_000);
    const feed = await one.open();
    let batches = 0;
    one.onFed = () => {
      batches += 1;
      if (batches === 1) one.add(1);
    };
    feed.start();
    await expect.poll(() => feed.isRefilling).toBe(false);
    expect(one.events.size).toBe(12_001);
    expect(one.fed.indexOf('g12000')).toBeLessThan(6_000);
  });

  it('goes on with earlier rows where it was', async () => {
    const one = new Installation();
    one.add(10);
    one.noted = { place: one.placeAt(9), refill: { behind: one.placeAt(7) } };
    const feed = await one.start();
    expect(feed.isRefilling).toBe(true);
    await expect.poll(() => feed.isRefilling).toBe(false);
    expect(one.events).toEqual(new Set(['g9', 'g7', 'g8']));
  });

  it('reports what does not come back when events are lost, notes it first, and feeds all rows', async () => {
    const one = new Installation();
    one.add(3);
    one.noted = { place: one.placeAt(3), refill: null };
    await one.open({ isFileMissing: true });
    expect(one.noted).toEqual({ place: one.placeAt(3), refill: { behind: null } });
    expect(one.warnings).toEqual([expect.stringContaining('do not come back')]);
    await one.start({ isFileMissing: true });
    expect(one.warnings).toHaveLength(1);
    await expect.poll(() => one.fed).toEqual(['g0', 'g1', 'g2']);
  });

  it('feeds everything again after a loss, even in the middle of a batch', async () => {
    const one = new Installation();
    one.add(3);
    const feed = await one.start();
    await expect.poll(() => one.noted?.refill).toBe(null);
    one.onFed = () => {
      one.onFed = () => {};
      one.fed.length = 0;
      feed.eventsLost();
    };
    await feed.feedAll();
    expect(one.fed).toEqual(['g0', 'g1', 'g2']);
    // A question that was asked before may be answered without these rows.
    expect(feed.isRefilling).toBe(true);
    await expect.poll(() => feed.isRefilling, { timeout: 20_000 }).toBe(false);
  });

  it('calls the first file of events no loss', async () => {
    const one = new Installation();
    const feed = await one.start({ isFileMissing: true });
    feed.eventsLost();
    expect(feed.isRefilling).toBe(false);
  });

  it('begins again when its place is not valid any more', async () => {
    const one = new Installation();
    one.add(3);
    const feed = await one.start();
    await expect.poll(() => one.fed.length).toBe(3);
    one.history = 'second';
    one.rows.splice(0, 2);
    await expect.poll(() => one.fed).toEqual(['g0', 'g1', 'g2', 'g2']);
    await expect.poll(() => one.noted).toEqual({ place: 'second 1', refill: null });
    one.add(1);
    await expect.poll(() => one.fed.length).toBe(5);
    expect(feed.isRefilling).toBe(false);
  });

  it('feeds all rows again on request, and rejects if that fails', async () => {
    const one = new Installation();
    one.add(3);
    const feed = await one.start();
    await expect.poll(() => one.fed.length).toBe(3);
    await feed.feedAll();
    expect(one.fed).toHaveLength(6);
    one.away = new Error('no room');
    await expect(feed.feedAll()).rejects.toThrow('no room');
    one.away = undefined;
    await expect.poll(() => one.fed.length).toBe(9);
  });

  it('does not log an unavailable database, and logs once that events cannot be written', async () => {
    const one = new Installation();
    one.unreadable = new DatabaseUnavailable(new Error('away'));
    one.away = new Error('no room');
    await one.start();
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(one.warnings).toEqual([]);
    one.unreadable = undefined;
    one.add(3);
    await expect.poll(() => one.warnings.length).toBe(1);
    one.away = undefined;
    await expect
      .poll(() => one.warnings)
      .toEqual([
        'events cannot be brought in; what was settled waits in the rows of generations',
        'events are brought in again',
      ]);
    expect(one.events.size).toBe(3);
  });

  it('leaves out rows that cannot become events, and goes on', async () => {
    const one = new Installation();
    one.add(2);
    one.rows.push({ id: 'refused', settledAtMs: 1 } as StoredGeneration);
    one.rows.push({ id: 'baffling', settledAtMs: -1 } as StoredGeneration);
    one.add(1);
    await one.start();
    await expect.poll(() => one.noted?.refill).toBe(null);
    expect(one.events).toEqual(new Set(['g0', 'g1', 'g4']));
    expect(one.warnings.map((line) => /^the generation (\S+) can never/.exec(line)?.[1]).sort()).toEqual([
      'baffling',
      'refused',
    ]);
  });

  describe('of rows that are reported', () => {
    it('looks for none in between, and feeds them at once for a caller that waits', async () => {
      const one = new Installation();
      const feed = await one.start({ gatherMs: 60_000 });
      await expect.poll(() => one.reads).toBe(1);
      await feed.catchUp();
      expect(one.reads).toBe(1);
      feed.rowsAdded(one.add(2));
      expect(feed.waiting).toBe(2);
      await feed.catchUp();
      expect(one.fed).toEqual(['g0', 'g1']);
      expect([feed.waiting, one.reads]).toEqual([0, 2]);
    });

    it('does not read what it has in memory, if that is all', async () => {
      const one = new Installation();
      one.add(1);
      const feed = await one.start({ gatherMs: 60_000 });
      await expect.poll(() => feed.isRefilling).toBe(false);
      const { reads } = one;
      feed.rowsAdded(one.add(2));
      feed.rowsAdded(one.add(1));
      await feed.catchUp();
      expect([one.fed, one.reads]).toEqual([['g0', 'g1', 'g2', 'g3'], reads]);
      // Known before, and one of which nothing was reported.
      feed.rowsAdded(one.rows.slice(0, 1));
      one.add(1);
      await feed.catchUp();
      expect([one.fed.at(-1), one.reads]).toEqual(['g4', reads + 1]);
      one.away = new Error('away');
      feed.rowsAdded(one.add(1));
      await expect(feed.catchUp()).rejects.toThrow('away');
      one.away = undefined;
      feed.rowsAdded(one.add(1));
      await feed.catchUp();
      expect(one.fed.slice(-2)).toEqual(['g5', 'g6']);
      expect(feed.waiting).toBe(0);
    });

    it('feeds a full batch without waiting for more', async () => {
      const one = new Installation();
      const feed = await one.start({ gatherMs: 60_000 });
      await expect.poll(() => one.reads).toBe(1);
      const rows = one.add(5_000);
      feed.rowsAdded(rows.slice(1));
      feed.rowsAdded(rows.slice(0, 1));
      await expect.poll(() => one.fed.length).toBe(5_000);
    });

    it('counts what waits while events are away, and tries again', async () => {
      const one = new Installation();
      one.away = new Error('away');
      const feed = await one.start({ gatherMs: 1 });
      feed.rowsAdded(one.add(3));
      await expect.poll(() => one.warnings.length).toBe(1);
      expect(feed.waiting).toBe(3);
      one.away = undefined;
      await expect.poll(() => feed.waiting).toBe(0);
      expect(one.fed).toHaveLength(3);
    });

    it('waits for new rows only, not for earlier ones', async () => {
      const one = new Installation();
      one.add(3);
      const feed = await one.open({ gatherMs: 60_000 });
      feed.rowsAdded(one.add(1));
      await feed.catchUp();
      expect(one.fed).toEqual(['g3']);
      expect(feed.isRefilling).toBe(true);
    });
  });
});
