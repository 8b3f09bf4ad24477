import { join } from 'node:path';
import type { AppRegistry } from '../../ports/events/apps.ts';
import type { EventFeed, EventStore } from '../../ports/events/events.ts';
import type { ImportedUsage } from '../../ports/events/imported-usage.ts';
import type { ClassificationStore } from '../../ports/following/classifiers.ts';
import type { OrderedGenerations } from '../../ports/following/ordered-generations.ts';
import type { StoredGeneration } from '../../ports/generations/generations.ts';
import type { AddedGenerations } from '../sql/stores/added-generations.ts';
import {
  type ClickhouseService,
  type ClickhouseStorage,
  type EventStorage,
  type EventStorageOptions,
  openClickhouseStorage,
  openDuckdbStorage,
} from './event-storage.ts';
import { eventsWithImports } from './events-with-imports.ts';
import { EVENTS_LOST } from './feed/feed-warnings.ts';
import { ImportFeed } from './feed/import-feed.ts';
import { type FeedLease, LeasedRowFeed } from './feed/leased-row-feed.ts';
import { ProgressFile } from './feed/progress-file.ts';
import { isFeedProgress, RowFeed, type RowFeedOptions } from './feed/row-feed.ts';
import { TagFeed } from './feed/tag-feed.ts';
import { type EventProjection, eventProjection } from './projection/event-projection.ts';

/** Location and dependencies of events. */
export interface EventsOptions extends EventStorageOptions {
  /** Absent = events are in the file `events.duckdb` of the data directory. */
  readonly clickhouse?: ClickhouseService | undefined;
  readonly apps: Pick<AppRegistry, 'note'>;
  readonly imports: ImportedUsage;
  readonly classifications: Pick<ClassificationStore, 'behind' | 'end' | 'prune'>;
}

/** The events of an installation, and what feeds them. */
export interface Events extends EventFeed {
  readonly eventStore: EventStore;
  /** Another gateway may have imported usage. */
  lookForImports(): void;
  /** There may be new classifications. */
  lookForTags(): void;
  close(): Promise<void>;
}

/** Events of a gateway with an embedded database. */
export interface EmbeddedEvents extends Events {
  /** Rows were added, in this order. */
  rowsAdded(generations: readonly StoredGeneration[]): void;
  /** Rows of refused requests were added, in this order. */
  refusedAdded(requests: readonly StoredGeneration[]): void;
  /** Feeds rows that were added by now. */
  catchUp(): Promise<void>;
  /** Added rows that are not events yet. */
  readonly waiting: number;
}

/** How long rows of an embedded database gather: queries are rare, and have waiting ones fed first, milliseconds. */
const GATHER_MS = 10_000;

/** Rows of an embedded database. */
interface EmbeddedRows {
  readonly rows: AddedGenerations;
  readonly refused: AddedGenerations;
}

/** Prepares events beside an embedded database. Their storage is opened with the first event or query. */
export async function openEmbeddedEvents(
  { rows, refused }: EmbeddedRows,
  options: EventsOptions,
): Promise<EmbeddedEvents> {
  // The other feed says it.
  const warn: EventsOptions['warn'] = (message, fields) => {
    if (message !== EVENTS_LOST) options.warn(message, fields);
  };
  const { events, feeds } = await openEvents(options, async (storage, projection) => [
    await openRowFeed(storage, { projection, rows, gatherMs: GATHER_MS }, options),
    await openRowFeed(
      storage,
      { projection, rows: refused, gatherMs: GATHER_MS },
      { ...options, warn },
      'refused-',
    ),
  ]);
  const [feed, feedOfRefused] = feeds as readonly [RowFeed, RowFeed];
  feed.hasMore(await rows.count(feed.place));
  feedOfRefused.hasMore(await refused.count(feedOfRefused.place));
  return {
    ...events,
    rowsAdded: (generations) => feed.rowsAdded(generations),
    refusedAdded: (requests) => feedOfRefused.rowsAdded(requests),
    async catchUp() {
      await feed.catchUp();
      await feedOfRefused.catchUp();
    },
    get waiting() {
      return feed.waiting;
    },
  };
}

/**
 * Prepares events of a gateway with a shared database, and starts their feed: its own file has the events of all
 * gateways. With ClickHouse one gateway feeds the rows of all, and each feeds the imports that it has not seen.
 */
export async function openSharedEvents(
  rows: OrderedGenerations,
  lease: FeedLease,
  options: EventsOptions,
): Promise<Events> {
  const { events } = await openEvents<AnyRowFeed>(options, async (storage, projection) => [
    isShared(storage)
      ? new LeasedRowFeed({ projection, rows, lease, storeId: storage.tablesId, warn: options.warn })
      : await openRowFeed(storage, { projection, rows }, options),
  ]);
  return events;
}

function openRowFeed(
  { files, isMissing }: EventStorage,
  feeding: Pick<RowFeedOptions, 'projection' | 'rows' | 'gatherMs'>,
  { directory, warn }: EventsOptions,
  prefix = '',
): Promise<RowFeed> {
  return RowFeed.open({
    ...feeding,
    file: new ProgressFile(join(directory, prefix + files.rows), isFeedProgress),
    isFileMissing: isMissing,
    warn,
  });
}

function isShared(storage: EventStorage | ClickhouseStorage): storage is ClickhouseStorage {
  return 'tablesId' in storage;
}

/** What every feed of rows can do. */
type AnyRowFeed = Pick<RowFeed, 'isRefilling' | 'start' | 'feedAll' | 'eventsLost' | 'close'>;

async function openEvents<Feed extends AnyRowFeed>(
  options: EventsOptions,
  openRowFeeds: (
    storage: EventStorage | ClickhouseStorage,
    projection: EventProjection,
  ) => Promise<readonly Feed[]>,
): Promise<{ readonly events: Events; readonly feeds: readonly Feed[] }> {
  const { directory, clickhouse, apps, imports, classifications, clock, warn } = options;
  const onLost = () => {
    for (const each of feeds) each.eventsLost();
  };
  const storage =
    clickhouse === undefined
      ? openDuckdbStorage(options, onLost)
      : openClickhouseStorage(clickhouse, options, onLost);
  const { store: eventStore, isMissing: isFileMissing, files } = storage;
  const importFeed = await ImportFeed.open({
    directory,
    fileName: files.imports,
    imports,
    events: eventStore,
    isFileMissing,
    now: () => clock.now(),
    warn,
  });
  const tagFeed = new TagFeed({
    directory,
    fileName: files.tags,
    classifications,
    events: eventStore,
    isFileMissing,
    warn,
  });
  const rowFeeds = await openRowFeeds(storage, eventProjection(eventStore, apps));
  const feeds = [...rowFeeds, importFeed, tagFeed];
  for (const each of feeds) each.start();
  const events: Events = {
    eventStore: eventsWithImports(eventStore, {
      imports,
      classifications,
      feed: importFeed,
      areRowsMissing: () => [...rowFeeds, tagFeed].some(({ isRefilling }) => isRefilling),
    }),
    lookForImports: () => importFeed.lookAgain(),
    lookForTags: () => tagFeed.lookAgain(),
    async refill() {
      for (const each of feeds) await each.feedAll();
      return (await eventStore.sizes()).events;
    },
    async close() {
      for (const each of feeds) await each.close();
      await eventStore.close();
    },
  };
  return { events, feeds: rowFeeds };
}
