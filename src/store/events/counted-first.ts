import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { AppRegistry } from '../../ports/apps.ts';
import type { EventStore } from '../../ports/events.ts';

/** How long somebody who asks waits for events that are on their way, milliseconds. Then the answer is without them. */
const PATIENCE_MS = 2_000;

/** Events of which whoever asks sees all that was settled by then: `counted` resolves once they are there. */
export function countedFirst(events: EventStore, counted: () => Promise<void>): EventStore {
  const first = () => isInTime(counted(), PATIENCE_MS);
  return {
    append: (added) => events.append(added),
    takeIn: (bundle) => events.takeIn(bundle),
    async query(query, signal) {
      await first();
      return events.query(query, signal);
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
    close: () => events.close(),
  };
}

/** Apps of which whoever names one sees it, although it has made its first generation only now. */
export function notedFirst(apps: AppRegistry, counted: () => Promise<void>): AppRegistry {
  return {
    note: (sightings) => apps.note(sightings),
    ofIds: (ids) => apps.ofIds(ids),
    async ofHosts(hosts) {
      const known = await apps.ofHosts(hosts);
      if (known.length === hosts.length) return known;
      await isInTime(counted(), PATIENCE_MS);
      return apps.ofHosts(hosts);
    },
    idsOf: (hosts) => apps.idsOf(hosts),
    hostsOfCategories: (categories) => apps.hostsOfCategories(categories),
    count: () => apps.count(),
  };
}
