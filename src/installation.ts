import { KNOWN_PROVIDERS } from './catalog/build-catalog.ts';
import type { Flags, LoadOptions } from './config/load.ts';
import { Accounts } from './manage/accounts.ts';
import { KeyDirectory } from './manage/authenticate-key.ts';
import { Keys } from './manage/keys.ts';
import { type Sources, systemSources } from './manage/sources.ts';
import type { Tenancy } from './ports/tenancy.ts';
import { type DataDirectory, openDataDirectory } from './store/data-directory.ts';
import { DataDirectoryProblem } from './store/data-directory-problem.ts';
import { openSqlite } from './store/sql/open-sqlite.ts';
import { SqliteTenancy } from './store/sql/sqlite-tenancy.ts';

/** How this program reads its configuration: the built-in table tells which providers are known by name. */
export function loadOptions(flags: Flags): LoadOptions {
  return { flags, knownProviders: KNOWN_PROVIDERS };
}

/** Everything that lives in a data directory, open for this process alone. The gateway and its commands share it. */
export interface Installation {
  readonly directory: DataDirectory;
  readonly tenancy: Tenancy;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly keyDirectory: KeyDirectory;
  readonly sources: Sources;
  /** Closes the database, then lets the next process in. */
  close(): Promise<void>;
}

export interface InstallationOptions {
  readonly dataDir: string;
  /** What the secrets of new keys begin with. */
  readonly keyPrefix: string;
  /** 32 bytes in base64; the directory's own key when absent. */
  readonly encryptionKey?: string;
  readonly sources?: Sources;
}

/** Opens a data directory. Rejects with a DataDirectoryProblem when it cannot be used or another process has it. */
export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const sources = options.sources ?? systemSources;
  const directory = openDataDirectory(options.dataDir, options.encryptionKey);
  try {
    const database = await openSqlite(directory.databaseFile, sources.clock.now());
    const tenancy = new SqliteTenancy(database);
    const accounts = new Accounts(tenancy, sources);
    const keyDirectory = new KeyDirectory(tenancy, sources.clock);
    const keys = new Keys(tenancy, accounts, sources, options.keyPrefix, (hash) => keyDirectory.forget(hash));
    return {
      directory,
      tenancy,
      accounts,
      keys,
      keyDirectory,
      sources,
      async close() {
        await database.destroy();
        directory.close();
      },
    };
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** Whether opening failed because another process has the directory. */
export function isDirectoryInUse(reason: unknown): boolean {
  return reason instanceof DataDirectoryProblem && reason.inUse;
}
