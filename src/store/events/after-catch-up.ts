import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { AppRegistry } from '../../ports/events/apps.ts';
import type { EventStore } from '../../ports/events/events.ts';

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
    async conversations(query, signal) {
      await first();
      return events.conversations(query, signal);
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
