import type { EventsOptions } from './embedded-events.ts';
import { type ClickhouseService, openClickhouse } from './event-storage.ts';
import { eventsWithImports } from './events-with-imports.ts';
import { ImportFeed } from './feed/import-feed.ts';
import { type FeedLease, LeasedRowFeed } from './feed/leased-row-feed.ts';
import type { BookedRows } from './feed/shared-row-feed.ts';
import { TagFeed } from './feed/tag-feed.ts';
import { eventProjection, generationSink } from './projection/event-projection.ts';
import type { SharedEvents } from './shared-events.ts';

/** Name of the file with the imported usage that the tables have. */
const IMPORTS_FILE = 'clickhouse-imports.json';

/** Name of the file with the tags that the tables have. */
const TAGS_FILE = 'clickhouse-tags.json';

export interface ClickhouseEventsOptions extends EventsOptions {
  readonly clickhouse: ClickhouseService;
  readonly lease: FeedLease;
}

/**
 * Prepares events of gateways that share PostgreSQL and ClickHouse, and starts their feed: one gateway feeds the rows
 * of all, and each feeds the imports that it has not seen.
 */
export async function openClickhouseEvents(
  rows: BookedRows,
  options: ClickhouseEventsOptions,
): Promise<SharedEvents> {
  const { directory, apps, imports, classifications, clock, warn, clickhouse, lease } = options;
  const eventStore = openClickhouse(clickhouse, options, () => {
    feed.storeCreated();
    importFeed.fileCreated();
    tagFeed.eventsLost();
  });
  const importFeed = await ImportFeed.open({
    directory,
    fileName: IMPORTS_FILE,
    imports,
    events: eventStore,
    isFileMissing: false,
    now: () => clock.now(),
    warn,
  });
  const tagFeed = new TagFeed({
    directory,
    fileName: TAGS_FILE,
    classifications,
    events: eventStore,
    isFileMissing: false,
    warn,
  });
  const feed = new LeasedRowFeed({
    projection: generationSink(eventProjection(eventStore, apps)),
    rows,
    lease,
    storeId: () => eventStore.tablesId(),
    warn,
  });
  feed.start();
  importFeed.start();
  tagFeed.start();
  return {
    eventStore: eventsWithImports(eventStore, {
      imports,
      classifications,
      feed: importFeed,
      areRowsMissing: () => feed.isRefilling || tagFeed.isRefilling,
    }),
    lookForImports: () => importFeed.lookAgain(),
    lookForTags: () => tagFeed.lookAgain(),
    async refill() {
      await feed.feedAll();
      await importFeed.feedAll();
      await tagFeed.feedAll();
      return (await eventStore.sizes()).events;
    },
    async close() {
      await feed.close();
      await importFeed.close();
      await tagFeed.close();
      await eventStore.close();
    },
  };
}
