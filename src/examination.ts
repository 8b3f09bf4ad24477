/*
 * What `signalbox doctor` uses. It examines an installation without opening it, so that nothing changes and a damaged
 * one can be examined too.
 */
import { openServiceClient } from './egress/service-client.ts';
import { type BucketSettings, openObjectStorage } from './installation.ts';
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

/** Why a bucket cannot be read; undefined if it can. Reads an object that does not exist. */
export async function bucketProblem(bucket: BucketSettings): Promise<string | undefined> {
  const storage = openObjectStorage(bucket, systemClock);
  try {
    await storage?.read('files/examined-by-doctor', 0, 1);
    return undefined;
  } catch (error) {
    if (!(error instanceof ObjectStorageUnavailable)) throw error;
    return error.message;
  } finally {
    storage?.close();
  }
}
