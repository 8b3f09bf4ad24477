import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../../kit/json/json.ts';
import type { EventFeed, EventStore } from '../../ports/events.ts';
import { DuckdbEventStore } from './duckdb/duckdb-event-store.ts';
import type { EventsOptions } from './embedded-events.ts';
import { ProgressFile } from './feed/progress-file.ts';
import { type BookedRows, type FeedProgress, SharedRowFeed } from './feed/shared-row-feed.ts';
import { eventProjection, generationSink } from './projection/event-projection.ts';

/** Events of a gateway with a shared database: its own file has the events of all gateways. */
export interface SharedEvents extends EventFeed {
  readonly eventStore: EventStore;
  close(): Promise<void>;
}

/** Prepares events and starts their feed. Their file is opened with the first event or query. */
export async function openSharedEvents(
  rows: BookedRows,
  { directory, apps, warn }: EventsOptions,
): Promise<SharedEvents> {
  const path = join(directory, 'events.duckdb');
  const eventStore = new DuckdbEventStore(path, { warn, onFileCreated: () => feed.fileCreated() });
  const feed = await SharedRowFeed.open({
    projection: generationSink(eventProjection(eventStore, apps)),
    rows,
    file: new ProgressFile(join(directory, 'events-fed.json'), isProgress),
    isFileMissing: !existsSync(path),
    warn,
  });
  feed.start();
  return {
    eventStore,
    async refill() {
      await feed.feedAll();
      return (await eventStore.sizes()).events;
    },
    async close() {
      await feed.close();
      await eventStore.close();
    },
  };
}

function isProgress(value: unknown): value is FeedProgress {
  return (
    isJsonObject(value) &&
    typeof value.history === 'string' &&
    typeof value.bookedIn === 'string' &&
    /^\d{1,20}$/.test(value.bookedIn) &&
    Number.isSafeInteger(value.settledAtMs) &&
    typeof value.id === 'string'
  );
}
