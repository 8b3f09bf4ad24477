import { join } from 'node:path';
import type { Log } from '../kit/log/log.ts';
import { systemClock } from '../kit/time/clock.ts';
import { Retention } from '../manage/generations/retention.ts';
import type { ContentStore } from '../ports/content/content.ts';
import type { RunningSettings } from '../settings/running-settings.ts';
import { DiskResponseCache } from '../store/cache/disk-response-cache.ts';
import { openContents } from '../store/content/open-contents.ts';
import type { Closers } from './closers.ts';
import type { Installation } from './installation.ts';

/** What the stores of the engine are opened with. */
export interface EngineStoreOptions {
  readonly settings: RunningSettings;
  readonly installation: Installation;
  readonly log: Log;
}

/** Opens the stores in the data directory that generations use besides the installation's. One process may. */
export function openEngineStores(
  options: EngineStoreOptions,
  closers: Closers,
): { readonly cache: DiskResponseCache; readonly contents: ContentStore } {
  const folder = join(options.installation.directory.path, 'cache');
  const cache = closers.add('the response cache', new DiskResponseCache(folder, options.log));
  return { cache, contents: openKeptContents(options, closers) };
}

/** The store of prompts and answers; what is older than `retention` is deleted, there and among rows and events. */
function openKeptContents(
  { settings, installation, log }: EngineStoreOptions,
  closers: Closers,
): ContentStore {
  const contents = closers.add(
    'stored prompts and answers',
    openContents({
      directory: join(installation.directory.path, 'content'),
      storage: installation.objectStorage,
      log,
      clock: systemClock,
    }),
  );
  closers.add(
    'the removal of old data',
    new Retention({
      settings: () => {
        const { events_days, content_days, content_bytes } = settings.latest.config.retention;
        return { eventsDays: events_days, contentDays: content_days, contentBytes: content_bytes };
      },
      generations: installation.generationStore,
      refused: installation.refusedRequests,
      events: installation.eventStore,
      callCounts: installation.callCountStore,
      contents,
      clock: systemClock,
      log,
    }),
  );
  return contents;
}
