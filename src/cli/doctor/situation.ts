import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Loading, loadConfiguration } from '../../config/load.ts';
import type { Flags, Runtime } from '../../config/runtime.ts';
import type { DoctorView } from '../../control/doctor-view.ts';
import { askRunning } from '../../control/send-command.ts';
import {
  type DirectoryFinding,
  examineDirectory,
  examinePostgres,
  examineSqlite,
  lockDirectory,
  type PostgresFacts,
  type SqliteFacts,
} from '../../examination.ts';
import { isDirectoryInUse, loadOptions } from '../../installation.ts';
import { problemOf } from './finding.ts';
import { type ProviderReach, reachProviders } from './reach-providers.ts';

/** The process that holds the data directory. */
export type Holder =
  /** No other process. */
  | { readonly kind: 'none' }
  | { readonly kind: 'process'; readonly view: DoctorView }
  /** A process that does not answer. */
  | { readonly kind: 'silent'; readonly problem: string };

/** Facts of the database; undefined if it does not exist. */
export type Database =
  /** DATABASE_URL is invalid. */
  | { readonly kind: 'unknown'; readonly facts: undefined }
  | { readonly kind: 'sqlite'; readonly file: string; readonly facts: SqliteFacts | undefined }
  | { readonly kind: 'postgres'; readonly facts: PostgresFacts };

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
  /** Empty if the configuration is invalid. */
  readonly reaches: Promise<readonly ProviderReach[]>;
  /** Releases the lock of the data directory. */
  close(): void;
}

/** Collects the facts; starts slow reads without waiting for them. */
export async function findSituation(flags: Flags): Promise<Situation> {
  const loading = loadConfiguration(loadOptions(flags));
  const runtime = loading.ok ? loading.loaded.runtime : loading.runtime;
  const reaches = loading.ok ? reachProviders(loading.loaded) : Promise.resolve([]);
  const directory = await examineDirectory(runtime.dataDir);
  const { holder, close } =
    directory.kind === 'there' ? await findHolder(runtime.dataDir) : { holder: NO_HOLDER, close() {} };
  const lookAgain = () => readDatabase(loading, runtime);
  const database = lookAgain();
  // Prevents an unhandled rejection; each check that awaits it reports the failure.
  database.catch(() => {});
  return { loading, runtime, directory, holder, database, lookAgain, reaches, close };
}

async function readDatabase(loading: Loading, { database, dataDir }: Runtime): Promise<Database> {
  if (hasProblemAt(loading, 'DATABASE_URL')) return { kind: 'unknown', facts: undefined };
  if (database !== undefined) return { kind: 'postgres', facts: await examinePostgres(database) };
  const file = join(dataDir, 'signalbox.sqlite');
  return { kind: 'sqlite', file, facts: await examineSqlite(file) };
}

/** True if the configuration has a problem at this path. */
export function hasProblemAt(loading: Loading, place: string): boolean {
  return !loading.ok && loading.problems.some(({ path }) => path === place);
}

const NO_HOLDER: Holder = { kind: 'none' };

/** How long to retry while a gateway starts or a command runs, milliseconds. */
const HOLDER_TIMEOUT_MS = 2_000;
const RETRY_MS = 50;

/** Asks the process that holds the data directory; locks it if there is none. */
async function findHolder(dataDir: string): Promise<{ holder: Holder; close(): void }> {
  const giveUpAt = performance.now() + HOLDER_TIMEOUT_MS;
  for (;;) {
    try {
      const view = await askRunning(dataDir, 'doctor.inspect', {});
      if (view !== undefined) return { holder: { kind: 'process', view }, close() {} };
      // A directory that was never locked is not changed.
      if (!existsSync(join(dataDir, 'lock'))) return { holder: NO_HOLDER, close() {} };
      return { holder: NO_HOLDER, close: lockDirectory(dataDir).release };
    } catch (error) {
      if (!isDirectoryInUse(error) || performance.now() > giveUpAt) {
        return { holder: { kind: 'silent', problem: problemOf(error).what }, close() {} };
      }
      await delay(RETRY_MS);
    }
  }
}
