import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Loading, loadConfiguration } from '../../config/load.ts';
import type { Flags, Runtime } from '../../config/runtime.ts';
import type { DoctorView } from '../../control/doctor-view.ts';
import { askRunning } from '../../control/send-command.ts';
import {
  type DirectoryLook,
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

/** Who has the data directory. */
export type Holder =
  /** Nobody has, or this process. */
  | { readonly kind: 'nobody' }
  | { readonly kind: 'process'; readonly view: DoctorView }
  /** Somebody has who does not answer. */
  | { readonly kind: 'silent'; readonly problem: string };

/** What is known of the database; no facts when there is none. */
export type Database =
  /** Nobody can tell where it is: what DATABASE_URL says cannot be read. */
  | { readonly kind: 'unknown'; readonly facts: undefined }
  | { readonly kind: 'sqlite'; readonly file: string; readonly facts: SqliteFacts | undefined }
  | { readonly kind: 'postgres'; readonly facts: PostgresFacts };

/** Everything that checks look at. What several of them need is found out once. */
export interface Situation {
  readonly loading: Loading;
  readonly runtime: Runtime;
  readonly directory: DirectoryLook;
  readonly holder: Holder;
  /** Rejects with why it cannot be read. */
  readonly database: Promise<Database>;
  /** Looks at the database once more: what a running gateway does meanwhile must not be taken for damage. */
  lookAgain(): Promise<Database>;
  /** None when the configuration cannot be used. */
  readonly reaches: Promise<readonly ProviderReach[]>;
  /** Lets the data directory go. */
  close(): void;
}

/** Finds out what there is to look at, and begins to look at what takes long. */
export async function findSituation(flags: Flags): Promise<Situation> {
  const loading = loadConfiguration(loadOptions(flags));
  const runtime = loading.ok ? loading.loaded.runtime : loading.runtime;
  const reaches = loading.ok ? reachProviders(loading.loaded) : Promise.resolve([]);
  const directory = await examineDirectory(runtime.dataDir);
  const { holder, close } =
    directory.kind === 'there' ? await findHolder(runtime.dataDir) : { holder: NOBODY, close() {} };
  const lookAgain = () => readDatabase(loading, runtime);
  const database = lookAgain();
  // Whoever needs it says what is wrong with it.
  database.catch(() => {});
  return { loading, runtime, directory, holder, database, lookAgain, reaches, close };
}

async function readDatabase(loading: Loading, { database, dataDir }: Runtime): Promise<Database> {
  if (hasProblemAt(loading, 'DATABASE_URL')) return { kind: 'unknown', facts: undefined };
  if (database !== undefined) return { kind: 'postgres', facts: await examinePostgres(database) };
  const file = join(dataDir, 'signalbox.sqlite');
  return { kind: 'sqlite', file, facts: await examineSqlite(file) };
}

/** Whether the configuration cannot be used because of one place. */
export function hasProblemAt(loading: Loading, place: string): boolean {
  return !loading.ok && loading.problems.some(({ path }) => path === place);
}

const NOBODY: Holder = { kind: 'nobody' };

/** How long to wait for a gateway that is just starting or for a command that ends soon, milliseconds. */
const PATIENCE_MS = 2_000;
const RETRY_MS = 50;

/** Asks the process that has a data directory, or takes the directory where none has. */
async function findHolder(dataDir: string): Promise<{ holder: Holder; close(): void }> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      const view = await askRunning(dataDir, 'doctor.inspect', {});
      if (view !== undefined) return { holder: { kind: 'process', view }, close() {} };
      // A directory that nobody ever held is left as it is.
      if (!existsSync(join(dataDir, 'lock'))) return { holder: NOBODY, close() {} };
      return { holder: NOBODY, close: lockDirectory(dataDir).release };
    } catch (error) {
      if (!isDirectoryInUse(error) || performance.now() > giveUpAt) {
        return { holder: { kind: 'silent', problem: problemOf(error).what }, close() {} };
      }
      await delay(RETRY_MS);
    }
  }
}
