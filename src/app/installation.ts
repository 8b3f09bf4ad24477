import { join } from 'node:path';
import { completeRow } from '../gateway/record/generation-row.ts';
import type { StoredFiles } from '../gateway/request/stored-files.ts';
import type { Clock } from '../kit/time/clock.ts';
import { ModelKnowledge } from '../manage/models/model-knowledge.ts';
import { type Sources, systemSources } from '../manage/sources.ts';
import { openServiceClient } from '../net/egress/service-client.ts';
import { readOverlay } from '../settings/read-overlay.ts';
import { BackupFolder } from '../store/backup/backup-folder.ts';
import { CatalogOverlayFile } from '../store/directory/catalog-overlay-file.ts';
import { type DataDirectory, openDataDirectory, requireKeptData } from '../store/directory/data-directory.ts';
import { type ImportDirectory, ImportFolder } from '../store/directory/import-folder.ts';
import { type EventBundleWriter, openEventBundle } from '../store/events/duckdb/bundle/event-bundle.ts';
import { EventsUnavailable } from '../store/events/event-errors.ts';
import { openFileBytes, openObjectStorage } from '../store/files/file-storage.ts';
import type { ObjectStorage } from '../store/object-storage/object-storage.ts';
import { openEmbeddedState } from '../store/open-embedded-state.ts';
import { openPostgresState } from '../store/open-postgres-state.ts';
import { awayCodeOf, isDatabaseAway } from '../store/sql/database-unavailable.ts';
import { databaseName } from '../store/sql/postgres/open-postgres.ts';
import type { State } from '../store/state.ts';
import type { InstallationOptions } from './installation-options.ts';
import { type ManagedServices, openServices } from './managed-services.ts';

/** An open data directory, its stores and the services on them, for the gateway or for one command. */
export interface Installation extends Omit<State, 'close'>, ManagedServices {
  readonly directory: DataDirectory;
  /** Files and their content, for requests that name them. */
  readonly storedFiles: StoredFiles;
  /** The bucket of files and content; undefined = they are in the data directory. */
  readonly objectStorage: ObjectStorage | undefined;
  /** Backups that are being made. */
  readonly backups: BackupFolder;
  /** True if accounts, keys and the ledger are in PostgreSQL. */
  readonly hasSharedDatabase: boolean;
  /** For operators: which database does not answer, and its error code. Undefined for other errors. */
  databaseProblem(error: unknown): string | undefined;
  readonly sources: Sources;
  /** Closes the ledger and the database, then releases the lock. */
  close(): Promise<void>;
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
    const stores = await openState(directory, options, sources);
    opened.push(() => stores.close());
    const objectStorage = openObjectStorage(options.bucket, sources.clock, {
      ...(options.warn && { warn: options.warn }),
    });
    if (objectStorage !== undefined) opened.push(async () => objectStorage.close());
    const storedFiles = {
      store: stores.fileStore,
      bytes: await openFileBytes(
        join(directory.path, 'files'),
        objectStorage,
        sources.clock,
        options.fileFloorBytes ?? (() => 0),
      ),
    };
    const services = await openServices(stores, {
      options,
      sources,
      directory,
      storedFiles,
      modelKnowledge,
      imports,
    });
    return {
      ...stores,
      ...services,
      directory,
      storedFiles,
      objectStorage,
      backups,
      hasSharedDatabase: options.database !== undefined,
      databaseProblem: (error) => {
        if (!isDatabaseAway(error) || error instanceof EventsUnavailable) return undefined;
        const { database } = options;
        const name = database === undefined ? directory.databaseFile : databaseName(database.address);
        return `${name}: ${awayCodeOf(error)}`;
      },
      sources,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
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

const DEFAULT_GENERATION_MS = 600_000;

function openState(
  { path: directory, databaseFile }: DataDirectory,
  {
    database,
    clickhouse: address,
    generationMs = () => DEFAULT_GENERATION_MS,
    durability = () => 'power',
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
