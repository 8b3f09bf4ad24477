import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Loading, loadConfiguration } from '../config/load.ts';
import type { Flags, Runtime } from '../config/runtime.ts';
import type { BucketView } from '../control/bucket-view.ts';
import type { ConfigurationView } from '../control/configuration-view.ts';
import type { DoctorView } from '../control/doctor-view.ts';
import type { ProviderView } from '../control/provider-view.ts';
import { askRunning, CommandRefused } from '../control/send-command.ts';
import { providerStates } from '../operator/provider-states.ts';
import type { Examined, PostgresFacts, StoreServers } from '../ports/installation/store-facts.ts';
import { deriveSettings } from '../settings/derive-settings.ts';
import { loadOptions } from '../settings/load-options.ts';
import { isDirectoryInUse } from '../store/directory/data-directory-problem.ts';
import { lockForReading } from '../store/directory/directory-lock.ts';
import { type DirectoryFinding, examineDirectory } from '../store/examine/examine-directory.ts';
import { examineSqlite, type SqliteFacts } from '../store/examine/examine-sqlite.ts';
import { examineBooksOf, examineBucket, type PostgresWithBooks, storeServers } from './examination.ts';
import { problemOf } from './finding.ts';

/** The process that holds the data directory. */
export type Holder =
  /** No other process. */
  | { readonly kind: 'none' }
  | { readonly kind: 'process'; readonly view: DoctorView }
  /** A process that does not answer. */
  | { readonly kind: 'silent'; readonly problem: string }
  /** Not known: no process answers, and the lock cannot be taken. */
  | { readonly kind: 'unknown'; readonly error: unknown };

/** Facts of the database; undefined if it does not exist. */
export type Database =
  /** DATABASE_URL is invalid. */
  | { readonly kind: 'unknown'; readonly facts: undefined }
  | { readonly kind: 'sqlite'; readonly file: string; readonly facts: SqliteFacts | undefined }
  /** A running gateway leaves out the books, which it reports itself. */
  | { readonly kind: 'postgres'; readonly facts: PostgresFacts & Partial<PostgresWithBooks> };

/** Facts that several checks need, collected once. */
export interface Situation {
  readonly loading: Loading;
  readonly runtime: Runtime;
  readonly directory: DirectoryFinding;
  readonly holder: Holder;
  /** Rejects if the database cannot be read. */
  readonly database: Promise<Database>;
  /** Reads the database again, to tell changes by a running gateway from damage. */
  lookAgain(): Promise<Database>;
  /**
   * Providers as the running gateway sees them, or as configured; undefined if the configuration is invalid.
   */
  readonly providers: Promise<readonly ProviderView[] | undefined>;
  /** The file as the running gateway reads it; undefined if none runs. */
  readonly configuration: ConfigurationView | undefined;
  /** Reads from the bucket of files, as the running gateway or the configuration has it; null without one. */
  bucket(): Promise<BucketView | null>;
  /** The servers of the running gateway, or of the configuration. */
  readonly stores: StoreServers;
  /** Releases the lock of the data directory. */
  close(): void;
}

/** Collects the facts; starts slow reads without waiting for them. */
export async function findSituation(flags: Flags): Promise<Situation> {
  const loading = loadConfiguration(loadOptions(flags));
  const runtime = loading.ok ? loading.loaded.runtime : loading.runtime;
  // The gateway is asked first: if it waits for its disk, a write of our own would wait as long.
  const waiting = await waitingGateway(runtime.dataDir);
  const directory = waiting === undefined ? await examineDirectory(runtime.dataDir) : FROZEN;
  const { holder, close } =
    directory.kind === 'there'
      ? await findHolder(runtime.dataDir)
      : { holder: waiting ?? NO_HOLDER, close() {} };
  const isServing = holder.kind === 'process' && holder.view.server !== null;
  const providers = findProviders(loading, isServing);
  const configuration = isServing
    ? await answerOf(askRunning(runtime.dataDir, 'doctor.configuration', {}))
    : undefined;
  const stores = isServing ? serversOfRunning(runtime) : ownServers(runtime);
  const lookAgain = () => readDatabase({ loading, runtime, directory, stores });
  const database = lookAgain();
  // Prevents an unhandled rejection; each check that awaits it reports the failure.
  database.catch(() => {});
  const bucket = () => findBucket(loading, runtime.dataDir, isServing);
  return {
    loading,
    runtime,
    directory,
    holder,
    configuration,
    database,
    lookAgain,
    providers,
    bucket,
    stores,
    close,
  };
}

/** Asks the running gateway, which has the bucket and its secret; reads the bucket itself if none runs. */
async function findBucket(loading: Loading, dataDir: string, isServing: boolean): Promise<BucketView | null> {
  // Undefined also of an older gateway, which refuses the command.
  const asked = isServing ? await askRunning(dataDir, 'doctor.bucket', {}).catch(() => undefined) : undefined;
  return asked === undefined ? examineBucket(loading.ok ? loading.loaded.config.storage.s3 : null) : asked;
}

/** Asks the running gateway, which has the secrets and the history; calls the providers itself if none runs. */
async function findProviders(
  loading: Loading,
  isServing: boolean,
): Promise<readonly ProviderView[] | undefined> {
  const { dataDir } = loading.ok ? loading.loaded.runtime : loading.runtime;
  const seen = isServing ? await answerOf(askRunning(dataDir, 'doctor.providers', {})) : undefined;
  if (seen !== undefined || !loading.ok) return seen;
  return providerStates(deriveSettings(loading.loaded).gateway.catalog);
}

/** Undefined if the gateway does not answer, or is of a version that cannot. */
async function answerOf<T>(asked: Promise<T | null | undefined>): Promise<T | undefined> {
  return (await asked.catch(() => undefined)) ?? undefined;
}

/** Without a running gateway the books are read here. */
function ownServers(runtime: Runtime): StoreServers {
  return { ...storeServers(runtime), postgres: () => examineBooksOf(runtime) };
}

/** Asks the running gateway, which has the addresses; an older one does not answer, and its servers are asked here. */
function serversOfRunning(runtime: Runtime): StoreServers {
  const { dataDir } = runtime;
  const own = storeServers(runtime);
  const ask = async <Facts>(
    asked: Promise<Examined<Facts> | null | undefined>,
    look: () => Promise<Examined<Facts> | null>,
  ) => {
    const found = await asked.catch(() => undefined);
    return found === undefined ? look() : found;
  };
  return {
    postgres: () => ask(askRunning(dataDir, 'doctor.postgres', {}), own.postgres),
    redis: () => ask(askRunning(dataDir, 'doctor.redis', {}), own.redis),
    clickhouse: () => ask(askRunning(dataDir, 'doctor.clickhouse', {}), own.clickhouse),
  };
}

async function readDatabase({
  loading,
  runtime,
  directory,
  stores,
}: Pick<Situation, 'loading' | 'runtime' | 'directory' | 'stores'>): Promise<Database> {
  const found = await stores.postgres();
  if (found?.ok === false) throw new CommandRefused(found.problem);
  if (found !== null) return { kind: 'postgres', facts: found.facts };
  if (hasProblemAt(loading, 'DATABASE_URL')) return { kind: 'unknown', facts: undefined };
  const file = join(runtime.dataDir, 'signalbox.sqlite');
  return { kind: 'sqlite', file, facts: directory.kind === 'there' ? await examineSqlite(file) : undefined };
}

/** True if the configuration has a problem at this path. */
export function hasProblemAt(loading: Loading, place: string): boolean {
  return !loading.ok && loading.problems.some(({ path }) => path === place);
}

const NO_HOLDER: Holder = { kind: 'none' };

const FROZEN: DirectoryFinding = { kind: 'frozen' };

/** The gateway that has the data directory, if its journal waits for the disk. */
async function waitingGateway(dataDir: string): Promise<Holder | undefined> {
  const view = await answerOf(askRunning(dataDir, 'doctor.inspect', {}));
  const waitingMs = view?.journal_disk?.waiting_ms ?? 0;
  return view === undefined || waitingMs === 0 ? undefined : { kind: 'process', view };
}

/** How long to retry while a gateway starts or a command runs, milliseconds. */
const HOLDER_TIMEOUT_MS = 2_000;
const RETRY_MS = 50;

/** Asks the process that holds the data directory; locks it if there is none. */
async function findHolder(dataDir: string): Promise<{ holder: Holder; close(): void }> {
  const giveUpAt = performance.now() + HOLDER_TIMEOUT_MS;
  const silent = (error: unknown): Holder => ({ kind: 'silent', problem: problemOf(error).what });
  for (;;) {
    try {
      const view = await askRunning(dataDir, 'doctor.inspect', {});
      if (view !== undefined) return { holder: { kind: 'process', view }, close() {} };
    } catch (error) {
      return { holder: silent(error), close() {} };
    }
    // A directory that was never locked is not changed.
    if (!existsSync(join(dataDir, 'lock'))) return { holder: NO_HOLDER, close() {} };
    try {
      return { holder: NO_HOLDER, close: lockForReading(dataDir).release };
    } catch (error) {
      if (!isDirectoryInUse(error)) return { holder: { kind: 'unknown', error }, close() {} };
      if (performance.now() > giveUpAt) return { holder: silent(error), close() {} };
      await delay(RETRY_MS);
    }
  }
}
