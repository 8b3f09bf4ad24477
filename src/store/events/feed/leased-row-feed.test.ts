import { expect, it } from 'vitest';
import type { OrderedGenerations } from '../../../ports/following/ordered-generations.ts';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import type { EventItem } from '../projection/event-projection.ts';
import { type FeedLease, type LeasedProgress, LeasedRowFeed } from './leased-row-feed.ts';

/** Leases of gateways in one process; `expire` ends that of the holder. */
function sharedLeases() {
  const kept: { holder: string | undefined; progress: LeasedProgress } = {
    holder: undefined,
    progress: { place: undefined, isRefilling: false },
  };
  const of = (holder: string): FeedLease => ({
    async take() {
      kept.holder ??= holder;
      return { isHeld: kept.holder === holder, ...kept.progress };
    },
    async note(_, progress) {
      if (kept.holder === holder) kept.progress = progress;
    },
    async restart() {
      kept.holder = undefined;
      kept.progress = { place: undefined, isRefilling: true };
    },
    async release() {
      if (kept.holder === holder) kept.holder = undefined;
    },
  });
  return { kept, of };
}

/** Rows that are booked one after another. */
function bookedRows(): Pick<OrderedGenerations, 'behind'> & { book(count: number): void; history: string } {
  const rows: { readonly id: string }[] = [];
  const source = {
    history: 'first',
    book(count: number) {
      for (let index = 0; index < count; index++) rows.push({ id: String(rows.length) });
    },
    async behind(place: string | null, limit: number) {
      const [history, reached = '0'] = place?.split(' ') ?? [source.history];
      if (history !== source.history) return undefined;
      const from = Number(reached);
      const generations = rows.slice(from, from + limit) as unknown as StoredGeneration[];
      return { generations, place: `${history} ${from + generations.length}` };
    },
  };
  return source;
}

function setUp() {
  const fed: string[] = [];
  const warnings: unknown[] = [];
  const leases = sharedLeases();
  const rows = bookedRows();
  const open = (name: string, storeId = async () => 'store') =>
    new LeasedRowFeed({
      projection: {
        of: ({ id }) => ({ id }) as EventItem,
        async add(items) {
          for (const { id } of items) fed.push(`${name} ${id}`);
        },
      },
      rows,
      lease: leases.of(name),
      storeId,
      warn: (...line) => warnings.push(line),
      everyMs: 5,
      watchMs: 5,
    });
  return { fed, warnings, leases, rows, open };
}

it('feeds each row at one gateway only, and goes on at another one', async () => {
  const { fed, rows, open } = setUp();
  const [one, other] = [open('one'), open('other')];
  rows.book(3);
  one.start();
  await expect.poll(() => fed).toEqual(['one 0', 'one 1', 'one 2']);
  other.start();
  rows.book(1);
  await expect.poll(() => fed.at(-1)).toBe('one 3');
  await one.close();
  rows.book(1);
  await expect.poll(() => fed.at(-1)).toBe('other 4');
  expect(fed).toHaveLength(5);
  await other.close();
});

it('feeds everything again on request, and after the database was replaced', async () => {
  const { fed, rows, open } = setUp();
  const feed = open('one');
  rows.book(2);
  await feed.feedAll();
  expect(fed).toEqual(['one 0', 'one 1']);
  expect(feed.isRefilling).toBe(false);
  await feed.feedAll();
  expect(fed).toHaveLength(4);
  rows.history = 'second';
  feed.start();
  await expect.poll(() => fed.length).toBe(6);
  await feed.close();
});

it('does not log an outage that the store of events logs, and feeds after it', async () => {
  const { fed, rows, open, warnings } = setUp();
  let isAway = true;
  let asked = 0;
  const feed = open('one', async () => {
    asked += 1;
    if (isAway) throw new DatabaseUnavailable();
    return 'store';
  });
  rows.book(1);
  feed.start();
  await expect.poll(() => asked).toBeGreaterThan(2);
  isAway = false;
  await expect.poll(() => fed).toEqual(['one 0']);
  expect(warnings).toEqual([]);
  await feed.close();
});

it('says that rows are missing from the moment in which the store was created again', async () => {
  const { fed, rows, leases, open } = setUp();
  const feed = open('one');
  rows.book(2);
  await feed.feedAll();
  // Other tables: nothing is noted for them.
  leases.kept.progress = { place: undefined, isRefilling: false };
  feed.eventsLost();
  expect(feed.isRefilling).toBe(true);
  feed.start();
  await expect.poll(() => fed.length).toBe(4);
  // A question that was asked before may be answered without these rows.
  expect(feed.isRefilling).toBe(true);
  await expect.poll(() => feed.isRefilling, { timeout: 20_000 }).toBe(false);
  await feed.close();
});
