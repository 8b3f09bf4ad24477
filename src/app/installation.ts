import { join } from 'node:path';
import type { TestConnection } from '../broadcast/connection-test.ts';
import { completeRow } from '../gateway/record/generation-row.ts';
import type { StoredFiles } from '../gateway/request/stored-files.ts';
import { randomIds } from '../kit/ids.ts';
import { nanosOf } from '../kit/money.ts';
import type { ClickhouseAddress } from '../kit/net/clickhouse-address.ts';
import type { DatabaseAddress } from '../kit/net/database-address.ts';
import { type EgressRules, egressProblem, parseEgressRules } from '../kit/net/egress.ts';
import type { Clock } from '../kit/time/clock.ts';
import { Accounts } from '../manage/accounts/accounts.ts';
import { Credits } from '../manage/accounts/credits.ts';
import { Byok } from '../manage/byok/byok.ts';
import { ByokDirectory } from '../manage/byok/byok-directory.ts';
import { type CredentialProvider, credentialTarget } from '../manage/byok/byok-secret.ts';
import { replaceToken } from '../manage/byok/replace-token.ts';
import { Vault } from '../manage/byok/vault.ts';
import { Classifiers } from '../manage/classifiers/classifiers.ts';
import { Declarations } from '../manage/declared/declarations.ts';
import { Destinations } from '../manage/destinations/destinations.ts';
import { Files } from '../manage/files/files.ts';
import { Freshness } from '../manage/freshness.ts';
import { GuardrailAssignments } from '../manage/guardrails/assignments.ts';
import type { GuardrailChecks } from '../manage/guardrails/guardrail-issues.ts';
import { Guardrails } from '../manage/guardrails/guardrails.ts';
import { canonicalSlugOf, findModel, type ModelLookup } from '../manage/guardrails/known-names.ts';
import { AccountKeys } from '../manage/keys/account-keys.ts';
import { CallerDirectory } from '../manage/keys/caller-directory.ts';
import { OperatorKeys } from '../manage/keys/operator-keys.ts';
import { ModelKnowledge } from '../manage/models/model-knowledge.ts';
import { PriceHistory } from '../manage/models/price-history.ts';
import { Sessions } from '../manage/sessions/sessions.ts';
import { type Sources, systemSources } from '../manage/sources.ts';
import { UsageImports } from '../manage/usage-import/usage-imports.ts';
import { Budgets } from '../manage/workspaces/budgets.ts';
import { Workspaces } from '../manage/workspaces/workspaces.ts';
import { openServiceClient } from '../net/egress/service-client.ts';
import type { AppRegistry } from '../ports/apps.ts';
import type { ByokStore } from '../ports/byok.ts';
import { MCP_PROVIDER_PREFIX } from '../ports/byok-credentials.ts';
import type { CallCountStore } from '../ports/call-counts.ts';
import type { Changes } from '../ports/changes.ts';
import type { EventFeed, EventStore } from '../ports/events.ts';
import type { FileQuotas } from '../ports/files.ts';
import type {
  ClassificationStore,
  ClassifierRunStore,
  ClassifierStore,
} from '../ports/following/classifiers.ts';
import type { DestinationStore } from '../ports/following/destinations.ts';
import type { FollowerNotes } from '../ports/following/follower-notes.ts';
import type { SettledRows } from '../ports/following/settled-rows.ts';
import type { SpooledContents } from '../ports/following/spooled-contents.ts';
import type { GenerationStore, RecentGenerations } from '../ports/generations.ts';
import type { GuardrailStore } from '../ports/guardrails.ts';
import type { Durability } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { LedgerLoss } from '../ports/ledger-mark.ts';
import type { McpMemory } from '../ports/mcp-memory.ts';
import type { SessionStore } from '../ports/sessions.ts';
import type { Tenancy, Workspace } from '../ports/tenancy.ts';
import { readOverlay } from '../settings/read-overlay.ts';
import { checkingPatterns } from '../stages/guardrails/filters/check-pattern.ts';
import type { JudgesFor } from '../stages/guardrails/judges/judge.ts';
import { BackupFolder } from '../store/backup/backup-folder.ts';
import { CatalogOverlayFile } from '../store/directory/catalog-overlay-file.ts';
import { type DataDirectory, openDataDirectory, requireKeptData } from '../store/directory/data-directory.ts';
import { type ImportDirectory, ImportFolder } from '../store/directory/import-folder.ts';
import {
  type EventBundleWriter,
  openEventBundle,
  readBundleApps,
} from '../store/events/duckdb/event-bundle.ts';
import { EventsUnavailable } from '../store/events/event-errors.ts';
import { type BucketSettings, openFileBytes, openObjectStorage } from '../store/files/file-storage.ts';
import type { SliceBounds } from '../store/ledger/postgres/slices/slice-size.ts';
import type { ObjectStorage } from '../store/object-storage/object-storage.ts';
import { openEmbeddedState } from '../store/open-embedded-state.ts';
import { openPostgresState } from '../store/open-postgres-state.ts';
import { awayCodeOf, isDatabaseAway } from '../store/sql/database-unavailable.ts';
import { databaseName } from '../store/sql/postgres/open-postgres.ts';
import type { State } from '../store/state.ts';

/** An open data directory and the services on it, for the gateway or for one command. */
export interface Installation {
  readonly directory: DataDirectory;
  /** Changes of the stored state, by this process and by others. */
  readonly changes: Changes;
  readonly tenancy: Tenancy;
  readonly accounts: Accounts;
  readonly keys: OperatorKeys;
  readonly accountKeys: AccountKeys;
  readonly workspaces: Workspaces;
  readonly budgets: Budgets;
  readonly byok: Byok;
  readonly guardrails: Guardrails;
  readonly guardrailAssignments: GuardrailAssignments;
  readonly destinations: Destinations;
  readonly classifiers: Classifiers;
  /** Workspaces of the configuration file. */
  readonly declarations: Declarations;
  readonly credits: Credits;
  readonly files: Files;
  /** Files and their content, for requests that name them. */
  readonly storedFiles: StoredFiles;
  /** The bucket of files and content; undefined = they are in the data directory. */
  readonly objectStorage: ObjectStorage | undefined;
  readonly callers: CallerDirectory;
  readonly byokStore: ByokStore;
  readonly guardrailStore: GuardrailStore;
  readonly destinationStore: DestinationStore;
  readonly classifierStore: ClassifierStore;
  readonly classificationStore: ClassificationStore;
  readonly classifierRunStore: ClassifierRunStore;
  readonly settledRows: SettledRows;
  readonly followerNotes: FollowerNotes;
  readonly spooledContents: SpooledContents;
  readonly mcpMemory: McpMemory;
  /** Sign-ins to the console. */
  readonly sessions: Sessions;
  /** Prices that were in force, and since when. */
  readonly priceHistory: PriceHistory;
  /** Calls of endpoints by hour. */
  readonly callCountStore: CallCountStore;
  readonly generationStore: GenerationStore;
  readonly appRegistry: AppRegistry;
  readonly eventStore: EventStore;
  readonly eventFeed: EventFeed;
  readonly ledger: Ledger;
  readonly recentGenerations: RecentGenerations;
  readonly vault: Vault;
  readonly byokCredentials: ByokDirectory;
  readonly modelKnowledge: ModelKnowledge;
  readonly usageImports: UsageImports;
  /** Backups that are being made. */
  readonly backups: BackupFolder;
  /** True if accounts, keys and the ledger are in PostgreSQL. */
  readonly hasSharedDatabase: boolean;
  /** Limits and routing memory in the shared database. */
  readonly sharedStores: State['sharedStores'];
  /** For operators: which database does not answer, and its error code. Undefined for other errors. */
  databaseProblem(error: unknown): string | undefined;
  readonly sources: Sources;
  /** Runs work that needs the database. A gateway with a shared database retries it until the database answers. */
  readonly whenDatabaseUp: State['whenDatabaseUp'];
  /** Why the process must be restarted; null = no reason. */
  readonly isDatabaseUp: State['isDatabaseUp'];
  readonly restartReason: State['restartReason'];
  /** Work that opening the ledger has done. */
  readonly recovery: State['recovery'];
  readonly settleInterrupted: State['settleInterrupted'];
  readonly sessionStore: SessionStore;
  /** Closes the ledger and the database, then releases the lock. */
  close(): Promise<void>;
}

/** A shared database. */
export interface SharedDatabase {
  readonly address: DatabaseAddress;
  /** Whether to wait for it when it does not answer. */
  readonly waitsForDatabase: boolean;
  /** True for a gateway, false for a command. */
  readonly isGateway: boolean;
  /** Retention of rows of generations, milliseconds. */
  retentionMs(): number;
  /** How much money is held ahead for keys that are used often; absent = none. */
  readonly slices?: (() => SliceBounds) | undefined;
}

export interface InstallationOptions {
  readonly dataDir: string;
  /** Prefix of the secrets of new keys. */
  readonly keyPrefix: string;
  /** Configured vendor name; part of some names of metrics. Absent = unknown. */
  readonly vendor?: string | undefined;
  /** Initial balance of a new account, USD; null or absent = not enforced. */
  readonly initialUsd?: (() => number | null) | undefined;
  /** The providers of the configuration, for stored credentials; none by default. */
  readonly providers?: (() => readonly CredentialProvider[]) | undefined;
  /** The models that guardrails may name; by default none is known, and any name is taken. */
  readonly models?: (() => ModelLookup) | undefined;
  /** Address of a Presidio-compatible service; null or absent = there is none. */
  readonly presidioUrl?: (() => string | null) | undefined;
  /** The services of guardrails, for trials; absent = trials leave them out. */
  readonly judgesFor?: JudgesFor | undefined;
  /** Tests connections to destinations; absent = there is no way out. */
  readonly testConnection?: TestConnection | undefined;
  /** Addresses that stored credentials may name; public ones by default. */
  readonly egress?: (() => EgressRules) | undefined;
  /** 32 bytes in base64; the directory's own key when absent. */
  readonly encryptionKey?: string | undefined;
  /** False: a database whose schema lacks something is refused; true by default. */
  readonly mayMigrate?: boolean | undefined;
  /** True for a gateway: reads of an embedded database do not wait for writes; false by default. */
  readonly readsApart?: boolean | undefined;
  /** Absent = an embedded database in the data directory. */
  readonly database?: SharedDatabase | undefined;
  /** Where events are; absent = in a file of the data directory. */
  readonly clickhouse?: ClickhouseAddress | undefined;
  /** Where files and content are; absent = in the data directory. */
  readonly bucket?: BucketSettings | null | undefined;
  /** How much may be stored as files; no limits by default. */
  readonly fileQuotas?: (() => FileQuotas) | undefined;
  /** Free disk below which no files are stored, bytes; 0 by default. */
  readonly fileFloorBytes?: (() => number) | undefined;
  /** Longest duration of a generation, milliseconds; by default the configuration's default. */
  readonly generationMs?: (() => number) | undefined;
  /** Most bytes of an embedded journal that are kept for events; 128 MiB by default. */
  readonly eventsBacklogBytes?: (() => number) | undefined;
  /** Durability of settlements; `power` by default. */
  readonly durability?: (() => Durability) | undefined;
  /** Logs problems that do not stop the gateway. */
  readonly warn?: ((message: string, fields?: Readonly<Record<string, unknown>>) => void) | undefined;
  /** Shortest wait for the disk of the ledger that is logged, milliseconds; SLOW_DISK_MS by default. */
  readonly slowDiskMs?: number | undefined;
  readonly sources?: Sources | undefined;
  /** Accepts an embedded ledger that ends before the database's mark; absent = opening fails then. */
  readonly acceptLoss?: ((loss: LedgerLoss) => void) | undefined;
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
    for (const closeOne of opened.splice(0).reverse()) await closeOne();
    directory.close();
  };
  try {
    const imports = new ImportFolder(directory.path);
    imports.removeLeftovers(sources.clock.now());
    const backups = new BackupFolder(directory.path);
    backups.removeLeftovers(sources.clock.now());
    const modelKnowledge = await openModelKnowledge(directory.path, sources.clock);
    opened.push(() => modelKnowledge.close());
    const state = await openState(directory, options, sources);
    opened.push(() => state.close());
    const {
      changes,
      tenancy,
      byokStore,
      guardrailStore,
      destinationStore,
      classifierStore,
      classificationStore,
      classifierRunStore,
      settledRows,
      followerNotes,
      spooledContents,
      mcpMemory,
      sessionStore,
      priceStore,
      callCountStore,
      generationStore,
      fileStore,
      appRegistry,
      eventStore,
      eventFeed,
      ledger,
      recentGenerations,
      sharedStores,
      settleInterrupted,
      whenDatabaseUp,
      isDatabaseUp,
      restartReason,
      recovery,
    } = state;
    const vault = await whenDatabaseUp(() =>
      Vault.open([byokStore, destinationStore], directory.encryptionKeys),
    );
    const freshness = new Freshness(changes, sources.clock);
    const byokCredentials = new ByokDirectory(
      byokStore,
      vault,
      (token, secret) =>
        replaceToken(token, secret, { store: byokStore, cipher: vault, clock: sources.clock }),
      sources.clock,
      freshness,
    );
    const callers = new CallerDirectory(tenancy, guardrailStore, sources.clock, freshness);
    const credits = new Credits(ledger, sources);
    const accounts = new Accounts(tenancy, sources, credits, () => {
      const usd = options.initialUsd?.() ?? null;
      return usd === null ? null : nanosOf(usd);
    });
    changes.subscribe((change) => callers.forget(change));
    changes.subscribe((change) => byokCredentials.forget(change));
    const changedKey = (hash: string) => changes.publish({ kind: 'key', hash });
    const changedCredentials = (accountId: string) => changes.publish({ kind: 'credentials', accountId });
    const changedGuardrails = (accountId: string) => changes.publish({ kind: 'guardrails', accountId });
    const changedWorkspace = ({ id, accountId }: Pick<Workspace, 'id' | 'accountId'>) => {
      changes.publish({ kind: 'workspace', id });
      // The credentials of a deleted workspace are deleted with it.
      changedCredentials(accountId);
    };
    const keyParts = { tenancy, ledger, sources, prefix: options.keyPrefix, changed: changedKey };
    const objectStorage = openObjectStorage(options.bucket, sources.clock, {
      ...(options.warn && { warn: options.warn }),
    });
    if (objectStorage !== undefined) opened.push(async () => objectStorage.close());
    const storedFiles = {
      store: fileStore,
      bytes: await openFileBytes(
        join(directory.path, 'files'),
        objectStorage,
        sources.clock,
        options.fileFloorBytes ?? (() => 0),
      ),
    };
    const { fileQuotas = () => NO_QUOTAS } = options;
    const files = new Files({
      ...storedFiles,
      workspaces: tenancy,
      sources,
      ids: randomIds,
      quotas: fileQuotas,
    });
    const workspaces = new Workspaces({
      tenancy,
      ledger,
      sources,
      changed: changedWorkspace,
      purgeDeleted: async () => {
        await byokStore.purgeWipedSecrets();
        await files.sweep();
      },
    });
    const guardrails = new Guardrails({
      store: guardrailStore,
      tenancy,
      sources,
      checks: () => guardrailChecks(options),
      canonicalModel: (name) => canonicalSlugOf(name, options.models?.()),
      judgesFor: options.judgesFor ?? (() => []),
      changed: changedGuardrails,
    });
    return {
      directory,
      changes,
      tenancy,
      accounts,
      keys: new OperatorKeys({ ...keyParts, accounts }),
      accountKeys: new AccountKeys({ ...keyParts, events: eventStore }),
      workspaces,
      budgets: new Budgets({ store: tenancy, workspaces, ledger, sources, changed: changedWorkspace }),
      byok: new Byok({
        store: byokStore,
        tenancy,
        vault,
        sources,
        providers: options.providers ?? (() => []),
        egress: options.egress ?? (() => PUBLIC_ADDRESSES),
        changed: changedCredentials,
      }),
      guardrails,
      guardrailAssignments: new GuardrailAssignments({
        store: guardrailStore,
        guardrails,
        tenancy,
        sources,
        changed: changedGuardrails,
        warn: options.warn ?? (() => {}),
      }),
      destinations: new Destinations({
        store: destinationStore,
        tenancy,
        vault,
        sources,
        egress: options.egress ?? (() => PUBLIC_ADDRESSES),
        testConnection: options.testConnection ?? noWayOut,
        notes: followerNotes,
        changed: ({ id }) => changes.publish({ kind: 'workspace', id }),
      }),
      classifiers: new Classifiers({
        store: classifierStore,
        classifications: classificationStore,
        notes: followerNotes,
        tenancy,
        ledger,
        sources,
        checks: () => ({ vendor: options.vendor, isModel: isModelIn(options) }),
        changed: ({ id }) => changes.publish({ kind: 'workspace', id }),
      }),
      declarations: new Declarations({
        accounts,
        tenancy,
        byokStore,
        guardrailStore,
        destinationStore,
        classifierStore,
        vault,
        sources,
        changedKey,
        changedWorkspace,
        changedGuardrails,
      }),
      credits,
      files,
      storedFiles,
      objectStorage,
      callers,
      sessions: new Sessions({ store: sessionStore, callers, sources }),
      priceHistory: new PriceHistory(priceStore, sources.clock, options.warn),
      byokStore,
      guardrailStore,
      destinationStore,
      classifierStore,
      classificationStore,
      classifierRunStore,
      settledRows,
      followerNotes,
      spooledContents,
      mcpMemory,
      callCountStore,
      generationStore,
      appRegistry,
      eventStore,
      eventFeed,
      ledger,
      recentGenerations,
      vault,
      byokCredentials,
      modelKnowledge,
      usageImports: new UsageImports({
        accounts,
        tenancy,
        apps: appRegistry,
        events: eventStore,
        prepared: { fileOf: (name) => imports.fileOf(name), appsOf: readBundleApps },
      }),
      backups,
      hasSharedDatabase: options.database !== undefined,
      sharedStores,
      databaseProblem: (error) => {
        if (!isDatabaseAway(error) || error instanceof EventsUnavailable) return undefined;
        const { database } = options;
        const name = database === undefined ? directory.databaseFile : databaseName(database.address);
        return `${name}: ${awayCodeOf(error)}`;
      },
      sources,
      settleInterrupted,
      sessionStore,
      whenDatabaseUp,
      isDatabaseUp,
      restartReason,
      recovery,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Facts that guardrails are checked against, by the current configuration. */
function guardrailChecks(options: InstallationOptions): GuardrailChecks {
  const { providers, presidioUrl, egress } = options;
  return {
    isModel: isModelIn(options),
    isProvider: (slug) =>
      !slug.startsWith(MCP_PROVIDER_PREFIX) && credentialTarget(slug, providers?.() ?? []) !== undefined,
    checkingPatterns,
    addressProblem: (url) => egressProblem(url, egress?.() ?? PUBLIC_ADDRESSES),
    hasEntityService: (presidioUrl?.() ?? null) !== null,
  };
}

/** Whether a name is that of a model, by the current configuration; if no models are known, any is. */
function isModelIn({ models }: InstallationOptions): (name: string) => boolean {
  const catalog = models?.();
  return (name) => catalog === undefined || findModel(name, catalog) !== undefined;
}

/** An import of usage in preparation: a bundle of events, and its directory. */
export interface UsagePreparation {
  readonly bundle: EventBundleWriter;
  readonly place: ImportDirectory;
}

/** Begins an import in an existing data directory, which a gateway may have open. */
export function prepareUsage(dataDir: string): UsagePreparation {
  const imports = new ImportFolder(dataDir);
  imports.removeLeftovers(Date.now());
  const place = imports.open();
  return { place, bundle: openEventBundle(place.file) };
}

/** The models known in a data directory, which need not exist. Only what has locked the directory may refresh them. */
export async function openModelKnowledge(
  dataDir: string,
  clock: Clock = systemSources.clock,
): Promise<ModelKnowledge> {
  const file = new CatalogOverlayFile(dataDir);
  return new ModelKnowledge(file, await readOverlay(file), clock);
}

const noWayOut: TestConnection = async () => ({
  isPassed: false,
  status: null,
  problem: 'there is no way out',
});

const NO_QUOTA = { bytes: null, files: null };

const NO_QUOTAS: FileQuotas = { key: NO_QUOTA, workspace: NO_QUOTA, account: NO_QUOTA };

const DEFAULT_GENERATION_MS = 600_000;

const PUBLIC_ADDRESSES = parseEgressRules([]);

function openState(
  { path: directory, databaseFile }: DataDirectory,
  {
    database,
    clickhouse: address,
    generationMs = () => DEFAULT_GENERATION_MS,
    durability = () => 'power',
    eventsBacklogBytes,
    warn = () => {},
    slowDiskMs,
    acceptLoss,
    mayMigrate = true,
    readsApart = false,
  }: InstallationOptions,
  { clock }: Sources,
): Promise<State> {
  const slowDisk = { warn, slowMs: slowDiskMs };
  const clickhouse = address && { address, service: openServiceClient(address.origin) };
  const common = {
    directory,
    mayMigrate,
    clickhouse,
    generationMs,
    durability,
    eventsBacklogBytes,
    completeRow,
    clock,
    warn,
    slowDisk,
  };
  return database === undefined
    ? openEmbeddedState({ ...common, databaseFile, readsApart, acceptLoss })
    : openPostgresState({ ...common, ...database, database: database.address });
}

/**
 * Throws a DataDirectoryProblem if there is nothing for a command to work on: no shared database, and a directory
 * without a gateway's data.
 */
export function requireInstallation({ dataDir, database }: InstallationOptions): void {
  if (database === undefined) requireKeptData(dataDir);
}
