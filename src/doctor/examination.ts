/*
 * What `signalbox doctor` uses. It examines an installation without opening it, so that nothing changes and a damaged
 * one can be examined too.
 */
import type { Runtime } from '../config/runtime.ts';
import type { BucketView } from '../control/bucket-view.ts';
import { isInTime } from '../kit/loop/is-in-time.ts';
import type { ClickhouseAddress } from '../kit/net/clickhouse-address.ts';
import type { DatabaseAddress } from '../kit/net/database-address.ts';
import { systemClock } from '../kit/time/clock.ts';
import { openServiceClient } from '../net/egress/service-client.ts';
import type {
  ClickhouseFacts,
  Examined,
  PostgresFacts,
  StoreServers,
} from '../ports/installation/store-facts.ts';
import { DataDirectoryProblem } from '../store/directory/data-directory-problem.ts';
import { examineClickhouse } from '../store/examine/examine-clickhouse.ts';
import {
  examinePostgres,
  examinePostgresBooks,
  type PostgresBooks,
} from '../store/examine/examine-postgres.ts';
import { examineRedis } from '../store/examine/examine-redis.ts';
import { type BucketSettings, openObjectStorage } from '../store/files/file-storage.ts';
import { ObjectStorageUnavailable } from '../store/object-storage/object-storage.ts';
import { databaseName } from '../store/sql/postgres/open-postgres.ts';

/** What is read of PostgreSQL if no gateway runs: the books too. */
export type PostgresWithBooks = PostgresFacts & PostgresBooks;

/** Looks at the servers whose addresses this process was given. */
export function storeServers({
  database,
  redis,
  clickhouse,
}: Pick<Runtime, 'database' | 'redis' | 'clickhouse'>): StoreServers {
  return {
    postgres: async () =>
      database === undefined ? null : examinedPostgres(database, examinePostgres(database)),
    redis: async () =>
      redis === undefined ? null : examined(`Redis at ${redis.host}:${redis.port}`, examineRedis(redis)),
    clickhouse: async () =>
      clickhouse === undefined
        ? null
        : examined(`ClickHouse at ${new URL(clickhouse.origin).host}`, examineEventServer(clickhouse)),
  };
}

/** Looks at PostgreSQL and its books; null without it. */
export async function examineBooksOf({
  database,
}: Pick<Runtime, 'database'>): Promise<Examined<PostgresWithBooks> | null> {
  return database === undefined ? null : examinedPostgres(database, examinePostgresBooks(database));
}

function examinedPostgres<Facts>(
  address: DatabaseAddress,
  looking: Promise<Facts>,
): Promise<Examined<Facts>> {
  return examined(`the database ${databaseName(address)}`, looking);
}

/** Milliseconds for one server: less than a command waits for the answer of a running gateway. */
const SERVER_MS = 9_000;

/** The facts, or why there are none. Of unexpected errors only the code is told: their messages may quote secrets. */
async function examined<Facts>(name: string, looking: Promise<Facts>): Promise<Examined<Facts>> {
  let facts: Facts | undefined;
  const looked = looking.then((found) => {
    facts = found;
  });
  try {
    await isInTime(looked, SERVER_MS);
    if (facts !== undefined) return { ok: true, facts };
    const problem = `${name} has not answered within ${SERVER_MS / 1000} s; check the load of its server`;
    return { ok: false, problem };
  } catch (error) {
    if (error instanceof DataDirectoryProblem) return { ok: false, problem: error.message };
    const { name: kind, code = kind } = error as NodeJS.ErrnoException;
    return { ok: false, problem: `${name} could not be examined (${code})` };
  }
}

/** Looks at the events in ClickHouse. Rejects with a DataDirectoryProblem. */
async function examineEventServer(address: ClickhouseAddress): Promise<ClickhouseFacts> {
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
