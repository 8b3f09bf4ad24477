import { KNOWN_PROVIDERS } from './catalog/known-providers.ts';
import { NO_OVERLAY, type Overlay, parseOverlay } from './catalog/overlay.ts';
import type { Flags, LoadOptions } from './config/load.ts';
import type { Presets } from './dialects/preset.ts';
import { createPresetCheck } from './gateway/preset-issues.ts';
import { runInTurns } from './kit/turns.ts';
import { Accounts } from './manage/accounts.ts';
import { KeyDirectory } from './manage/authenticate-key.ts';
import { Keys } from './manage/keys.ts';
import { ModelKnowledge } from './manage/model-knowledge.ts';
import { OwnCredentialDirectory } from './manage/own-credential-directory.ts';
import { type Sources, systemSources } from './manage/sources.ts';
import { Vault } from './manage/vault.ts';
import type { ByokStore } from './ports/byok.ts';
import type { Tenancy } from './ports/tenancy.ts';
import { CatalogOverlayFile } from './store/catalog-overlay-file.ts';
import { type DataDirectory, openDataDirectory } from './store/data-directory.ts';
import { DataDirectoryProblem } from './store/data-directory-problem.ts';
import { openSqlite } from './store/sql/open-sqlite.ts';
import { SqlByokStore } from './store/sql/sql-byok-store.ts';
import { SqlTenancy } from './store/sql/sql-tenancy.ts';

/** How this program reads its configuration: the built-in table tells which providers are known by name. */
export function loadOptions(flags: Flags): LoadOptions {
  const check = createPresetCheck();
  return {
    flags,
    knownProviders: KNOWN_PROVIDERS,
    presetCheck: (presets, vendor) => check(presets as Presets, vendor),
  };
}

/** Everything that lives in a data directory, open for this process alone. The gateway and its commands share it. */
export interface Installation {
  readonly directory: DataDirectory;
  readonly tenancy: Tenancy;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly keyDirectory: KeyDirectory;
  readonly byokStore: ByokStore;
  readonly vault: Vault;
  readonly ownCredentials: OwnCredentialDirectory;
  readonly modelKnowledge: ModelKnowledge;
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

/**
 * Opens a data directory. Rejects with a DataDirectoryProblem when it cannot be used or another process has it, with a
 * GatewayError when its credentials are encrypted under another key.
 */
export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const sources = options.sources ?? systemSources;
  const directory = openDataDirectory(options.dataDir, options.encryptionKey);
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closeOne of opened.splice(0)) await closeOne();
    directory.close();
  };
  try {
    const overlayFile = new CatalogOverlayFile(directory.path);
    const modelKnowledge = new ModelKnowledge(overlayFile, await readOverlay(overlayFile), sources.clock);
    opened.push(() => modelKnowledge.close());
    const database = await openSqlite(directory.databaseFile, sources.clock.now());
    opened.push(() => database.destroy());
    const tenancy = new SqlTenancy(database);
    const byokStore = new SqlByokStore(database);
    const vault = await Vault.open(byokStore, directory.encryptionKeys);
    const accounts = new Accounts(tenancy, sources);
    const keyDirectory = new KeyDirectory(tenancy, sources.clock);
    const keys = new Keys(tenancy, accounts, sources, options.keyPrefix, (hash) => keyDirectory.forget(hash));
    return {
      directory,
      tenancy,
      accounts,
      keys,
      keyDirectory,
      byokStore,
      vault,
      ownCredentials: new OwnCredentialDirectory(byokStore, vault, sources.clock),
      modelKnowledge,
      sources,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Without what was brought in, requests would be priced otherwise: a file that cannot be read must not be passed over. */
async function readOverlay(file: CatalogOverlayFile): Promise<Overlay> {
  const text = file.read();
  if (text === undefined) return NO_OVERLAY;
  const reading = await runInTurns(parseOverlay(text));
  if (reading.ok) return reading.overlay;
  throw new DataDirectoryProblem(
    `${file.path} ${reading.problem}; put it back from a backup, or remove it to go back to what ships`,
    false,
  );
}

/** Whether opening failed because another process has the directory. */
export function isDirectoryInUse(reason: unknown): boolean {
  return reason instanceof DataDirectoryProblem && reason.inUse;
}
