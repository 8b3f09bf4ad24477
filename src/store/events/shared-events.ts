import { join } from 'node:path';
import type { EventFeed, EventStore } from '../../ports/events.ts';
import type { EventsOptions } from './embedded-events.ts';
import { openEventStorage } from './event-storage.ts';
import { eventsWithImports } from './events-with-imports.ts';
import { ImportFeed } from './feed/import-feed.ts';
import { ProgressFile } from './feed/progress-file.ts';
import { type BookedRows, isFeedProgress, SharedRowFeed } from './feed/shared-row-feed.ts';
import { TagFeed } from './feed/tag-feed.ts';
import { eventProjection, generationSink } from './projection/event-projection.ts';

/** Events of a gateway with a shared database: its own file has the events of all gateways. */
export interface SharedEvents extends EventFeed {
  readonly eventStore: EventStore;
  /** Another gateway may have imported usage. */
  lookForImports(): void;
  /** There may be new classifications. */
  lookForTags(): void;
  close(): Promise<void>;
}

/** Prepares events and starts their feed. Their file is opened with the first event or query. */
export async function openSharedEvents(rows: BookedRows, options: EventsOptions): Promise<SharedEvents> {
  const { directory, apps, imports, classifications, clock, warn } = options;
  const fillAgain = () => {
    feed.fileCreated();
    importFeed.fileCreated();
    tagFeed.eventsLost();
  };
  const {
    store: eventStore,
    isMissing: isFileMissing,
    files,
  } = openEventStorage(options, { created: fillAgain, lost: fillAgain });
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
  const feed = await SharedRowFeed.open({
    projection: generationSink(eventProjection(eventStore, apps)),
    rows,
    file: new ProgressFile(join(directory, 'events-fed.json'), isFeedProgress),
    isFileMissing,
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
