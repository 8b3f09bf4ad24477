/*
 * What `signalbox doctor` uses. It examines an installation without opening it, so that nothing changes and a damaged
 * one can be examined too.
 */
import type { BucketView } from './control/bucket-view.ts';
import { openServiceClient } from './egress/service-client.ts';
import { type BucketSettings, openObjectStorage } from './file-storage.ts';
import type { ClickhouseAddress } from './kit/net/clickhouse-address.ts';
import { systemClock } from './kit/time/clock.ts';
import { type ClickhouseFacts, examineClickhouse } from './store/examine/examine-clickhouse.ts';
import { ObjectStorageUnavailable } from './store/object-storage/object-storage.ts';

export { readOverlay } from './installation.ts';
export { providerStates } from './provider-states.ts';
export { deriveSettings } from './settings.ts';
export { CatalogOverlayFile } from './store/directory/catalog-overlay-file.ts';
export { hasKeptData, lockDirectory } from './store/directory/data-directory.ts';
export { DataDirectoryProblem } from './store/directory/data-directory-problem.ts';
export type { DatabaseFacts, KnownFile } from './store/examine/database-facts.ts';
export { type DiskUse, diskUse } from './store/examine/disk-use.ts';
export {
  type DirectoryFacts,
  type DirectoryFinding,
  examineDirectory,
} from './store/examine/examine-directory.ts';
export { EVENTS_ADVICE, examineEvents, hadEvents } from './store/examine/examine-events.ts';
export { examineFiles, type FileFacts } from './store/examine/examine-files.ts';
export {
  type BooksFacts,
  examineBooks,
  examineOutbox,
  type JournalFacts,
} from './store/examine/examine-journal.ts';
export { examinePostgres, type PostgresFacts } from './store/examine/examine-postgres.ts';
export { examineRedis, type RedisFacts } from './store/examine/examine-redis.ts';
export { examineSqlite, MAX_NEWEST_ROWS, type SqliteFacts } from './store/examine/examine-sqlite.ts';
export { isHashKeyGone, readSecrets } from './store/examine/read-secrets.ts';

/** Looks at the events in ClickHouse. Rejects with a DataDirectoryProblem. */
export async function examineEventServer(address: ClickhouseAddress): Promise<ClickhouseFacts> {
  const service = openServiceClient(address.origin);
  try {
    return await examineClickhouse(service, address);
  } finally {
    service.close();
  }
}

/** Attempts to read from a bucket, by the milliseconds of silence: within the time of a check. */
const EXAMINED_ATTEMPTS_MS = [2_000, 4_000];

/** Looks whether the bucket of the configuration can be read, by an object that does not exist; null without one. */
export async function examineBucket(bucket: BucketSettings | null): Promise<BucketView | null> {
  if (bucket === null) return null;
  const name = bucket.bucket;
  const storage = openObjectStorage(bucket, systemClock, { attemptsMs: EXAMINED_ATTEMPTS_MS });
  try {
    await storage?.read('files/examined-by-doctor', 0, 1);
    return { name, problem: null };
  } catch (error) {
    if (!(error instanceof ObjectStorageUnavailable)) throw error;
    return { name, problem: error.message };
  } finally {
    storage?.close();
  }
}
