import { join } from 'node:path';
import { isJsonObject } from '../../kit/json/json.ts';
import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { AppRegistry } from '../../ports/apps.ts';
import type { EventFeed, EventStore } from '../../ports/events.ts';
import type { ClassificationStore } from '../../ports/following/classifiers.ts';
import type { GenerationStore } from '../../ports/generations.ts';
import type { ImportedUsage } from '../../ports/imported-usage.ts';
import type { DeferrableProjection } from '../ledger/embedded/open-embedded-ledger.ts';
import { disownOther, type EventStorageOptions, openEventStorage } from './event-storage.ts';
import { eventsWithImports } from './events-with-imports.ts';
import { ImportFeed } from './feed/import-feed.ts';
import { ProgressFile } from './feed/progress-file.ts';
import { type MissingRows, RowRefill } from './feed/row-refill.ts';
import { TagFeed } from './feed/tag-feed.ts';
import { type EventItem, eventProjection, generationSink } from './projection/event-projection.ts';

/** Location and dependencies of events. */
export interface EventsOptions extends EventStorageOptions {
  readonly apps: Pick<AppRegistry, 'note'>;
  readonly imports: ImportedUsage;
  readonly classifications: Pick<ClassificationStore, 'behind' | 'end' | 'prune'>;
}

/** Events of a gateway with an embedded database. */
export interface EmbeddedEvents extends DeferrableProjection<EventItem>, EventFeed {
  readonly eventStore: EventStore;
  /** Begins to feed missing rows. `rowsCaughtUp` resolves once everything settled by then has its row. */
  start(rowsCaughtUp: () => Promise<void>): void;
  /** There may be new classifications. */
  lookForTags(): void;
  close(): Promise<void>;
}

/** Prepares the events of an installation. Their storage is opened with the first event or query. */
export async function openEmbeddedEvents(
  rows: Pick<GenerationStore, 'settledAfter'>,
  options: EventsOptions,
): Promise<EmbeddedEvents> {
  const { directory, apps, imports, classifications, clock, warn } = options;
  const {
    store: eventStore,
    isMissing: isFileMissing,
    files,
  } = openEventStorage(options, {
    created() {
      refill.fileCreated();
      importFeed.fileCreated();
      tagFeed.eventsLost();
    },
    lost() {
      refill.eventsLost();
      importFeed.fileCreated();
      tagFeed.eventsLost();
    },
  });
  await disownOther(directory, files, isMissingRows);
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
  const projection = eventProjection(eventStore, apps);
  const refill = await RowRefill.open({
    projection: generationSink(projection),
    rows,
    file: new ProgressFile(join(directory, files.owed), isMissingRows),
    isFileMissing,
    warn,
  });
  return {
    eventStore: eventsWithImports(eventStore, {
      imports,
      classifications,
      feed: importFeed,
      areRowsMissing: () => refill.isRefilling || tagFeed.isRefilling,
    }),
    projection: {
      ...projection,
      async add(items) {
        await projection.add(items);
        await refill.eventsWritten();
      },
    },
    deferToRows: (sinceMs) => refill.deferToRows(sinceMs),
    start(rowsCaughtUp) {
      refill.start(rowsCaughtUp);
      importFeed.start();
      tagFeed.start();
    },
    lookForTags: () => tagFeed.lookAgain(),
    async refill() {
      await refill.feedAll();
      await importFeed.feedAll();
      await tagFeed.feedAll();
      return (await eventStore.sizes()).events;
    },
    async close() {
      await refill.close();
      await importFeed.close();
      await tagFeed.close();
      await eventStore.close();
    },
  };
}

function isMissingRows(value: unknown): value is MissingRows {
  if (!isJsonObject(value)) return false;
  const { behind } = value;
  return (
    behind === null ||
    (isJsonObject(behind) && Number.isSafeInteger(behind.settledAtMs) && typeof behind.id === 'string')
  );
}

/** How long a query waits for events that are not stored yet, milliseconds. After that it is answered without them. */
const PATIENCE_MS = 2_000;

/** An event store whose queries first wait for `caughtUp`, so that they include everything settled before. */
export function eventsAfterCatchUp(events: EventStore, caughtUp: () => Promise<void>): EventStore {
  const first = () => isInTime(caughtUp(), PATIENCE_MS);
  return {
    append: (added) => events.append(added),
    addTags: (tags) => events.addTags(tags),
    addBundle: (bundle) => events.addBundle(bundle),
    async query(query, signal) {
      await first();
      return events.query(query, signal);
    },
    async breakdown(query, signal) {
      await first();
      return events.breakdown(query, signal);
    },
    async log(query, signal) {
      await first();
      return events.log(query, signal);
    },
    async logCounts(query, signal) {
      await first();
      return events.logCounts(query, signal);
    },
    async appTotals(windows, signal) {
      await first();
      return events.appTotals(windows, signal);
    },
    prune: (beforeMs) => events.prune(beforeMs),
    async sizes() {
      await first();
      return events.sizes();
    },
    copyTo: (file) => events.copyTo(file),
    get isAvailable() {
      return events.isAvailable;
    },
    get isRefilling() {
      return events.isRefilling;
    },
    close: () => events.close(),
  };
}

/** A registry that waits for `caughtUp` when a host is unknown, so that it finds an app after its first generation. */
export function appsAfterCatchUp(apps: AppRegistry, caughtUp: () => Promise<void>): AppRegistry {
  return {
    note: (sightings) => apps.note(sightings),
    ofIds: (ids) => apps.ofIds(ids),
    async ofHosts(hosts) {
      const known = await apps.ofHosts(hosts);
      if (known.length === hosts.length) return known;
      await isInTime(caughtUp(), PATIENCE_MS);
      return apps.ofHosts(hosts);
    },
    idsOf: (hosts) => apps.idsOf(hosts),
    hostsOfCategories: (categories) => apps.hostsOfCategories(categories),
    count: () => apps.count(),
  };
}
