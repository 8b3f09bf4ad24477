import type { EventStore } from '../../ports/events/events.ts';
import type { ImportedUsage } from '../../ports/events/imported-usage.ts';
import type { ClassificationStore } from '../../ports/following/classifiers.ts';
import type { ImportFeed } from './feed/import-feed.ts';

export interface EventSources {
  readonly imports: Pick<ImportedUsage, 'prune'>;
  readonly classifications: Pick<ClassificationStore, 'prune'>;
  readonly feed: Pick<ImportFeed, 'takeIn' | 'isRefilling'>;
  /** Whether events lack rows that are being fed. */
  areRowsMissing(): boolean;
}

/** An event store that keeps imported usage and classifications, and knows whether it is being filled again. */
export function eventsWithImports(
  events: EventStore,
  { imports, classifications, feed, areRowsMissing }: EventSources,
): EventStore {
  return {
    append: (added) => events.append(added),
    addTags: (tags) => events.addTags(tags),
    addBundle: (bundle) => feed.takeIn(bundle),
    query: (query, signal) => events.query(query, signal),
    breakdown: (query, signal) => events.breakdown(query, signal),
    log: (query, signal) => events.log(query, signal),
    logCounts: (query, signal) => events.logCounts(query, signal),
    conversations: (query, signal) => events.conversations(query, signal),
    appTotals: (windows, signal) => events.appTotals(windows, signal),
    async prune(beforeMs) {
      await imports.prune(beforeMs);
      await classifications.prune(beforeMs);
      return events.prune(beforeMs);
    },
    sizes: () => events.sizes(),
    copyTo: (file) => events.copyTo(file),
    get isAvailable() {
      return events.isAvailable;
    },
    get isRefilling() {
      return areRowsMissing() || feed.isRefilling;
    },
    close: () => events.close(),
  };
}
