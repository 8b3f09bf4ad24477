import { existsSync } from 'node:fs';
import { type ClassifierStore, classifierKey } from '../ports/following/classifiers.ts';
import { refusedGeneration } from '../ports/generations/refused-requests.ts';
import type { ForgettableScope } from '../ports/money/ledger.ts';
import type { LedgerLoss } from '../ports/money/ledger-mark.ts';
import type { Tenancy } from '../ports/tenancy/tenancy.ts';
import { BackupFolder } from './backup/backup-folder.ts';
import { MemoryChanges } from './changes/memory-changes.ts';
import { DataDirectoryProblem } from './directory/data-directory-problem.ts';
import { readGatewayId } from './directory/gateway-identity.ts';
import { appsAfterCatchUp, eventsAfterCatchUp } from './events/after-catch-up.ts';
import { openEmbeddedEvents } from './events/open-events.ts';
import { SqlFollowerNotes } from './following/sql-follower-notes.ts';
import { SqlSpooledContents } from './following/sql-spooled-contents.ts';
import { SqliteSettledRows } from './following/sqlite-settled-rows.ts';
import { openEmbeddedLedger } from './ledger/embedded/open-embedded-ledger.ts';
import { emptyWriteLog, openSqlite } from './sql/sqlite/open-sqlite.ts';
import { AddedGenerations } from './sql/stores/added-generations.ts';
import { SqlAppRegistry } from './sql/stores/sql-app-registry.ts';
import { SqlByokStore } from './sql/stores/sql-byok-store.ts';
import { SqlCallCountStore } from './sql/stores/sql-call-count-store.ts';
import { SqlClassificationStore } from './sql/stores/sql-classification-store.ts';
import { SqlClassifierRunStore } from './sql/stores/sql-classifier-run-store.ts';
import { SqlClassifierStore } from './sql/stores/sql-classifier-store.ts';
import { SqlDestinationStore } from './sql/stores/sql-destination-store.ts';
import { SqlFileStore } from './sql/stores/sql-file-store.ts';
import { SqlGatewayProviderStore } from './sql/stores/sql-gateway-provider-store.ts';
import { sqliteGenerationStore } from './sql/stores/sql-generation-store.ts';
import { SqlGuardrailStore } from './sql/stores/sql-guardrail-store.ts';
import { MAX_IMPORT_CHARACTERS, SqlImportedUsage } from './sql/stores/sql-imported-usage.ts';
import { SqlLedgerMark } from './sql/stores/sql-ledger-mark.ts';
import { SqlMcpMemory } from './sql/stores/sql-mcp-memory.ts';
import { SqlMemberStore } from './sql/stores/sql-member-store.ts';
import { SqlPriceStore } from './sql/stores/sql-price-store.ts';
import { SqlRefusedRequests } from './sql/stores/sql-refused-requests.ts';
import { SqlSessionStore } from './sql/stores/sql-session-store.ts';
import { SqlTenancy } from './sql/stores/sql-tenancy.ts';
import type { State, StateOptions } from './state.ts';

export interface EmbeddedStateOptions extends StateOptions {
  readonly databaseFile: string;
  /** True for a gateway: reads of the database do not wait for writes. */
  readonly readsApart?: boolean;
  /** Accepts a journal that ends before the database's mark; absent = opening fails then. */
  readonly acceptLoss?: ((loss: LedgerLoss) => void) | undefined;
}

/**
 * Throws a DataDirectoryProblem for the directory of a gateway on PostgreSQL: a command that lacks DATABASE_URL would
 * create an empty database in it and show that nothing exists.
 */
export function refuseOtherState({
  directory,
  databaseFile,
}: Pick<EmbeddedStateOptions, 'directory' | 'databaseFile'>): void {
  if (existsSync(databaseFile) || readGatewayId(directory) === undefined) return;
  throw new DataDirectoryProblem(
    `${directory} belongs to a gateway on PostgreSQL: set DATABASE_URL to its database, or choose another directory ` +
      'with --data-dir',
    false,
  );
}

/** Opens state that lives in the data directory alone. Rejects with a DataDirectoryProblem. */
export async function openEmbeddedState(options: EmbeddedStateOptions): Promise<State> {
  refuseOtherState(options);
  const backups = new BackupFolder(options.directory);
  const database = await openSqlite(options.databaseFile, options.clock.now(), options);
  try {
    const tenancy = new SqlTenancy(database);
    const generationStore = sqliteGenerationStore(database);
    const appRegistry = new SqlAppRegistry(database);
    const classifierStore = new SqlClassifierStore(database);
    const classificationStore = new SqlClassificationStore(database);
    const refused = new SqlRefusedRequests(database);
    const added = { rows: new AddedGenerations(database), refused: AddedGenerations.ofRefused(database) };
    const events = await openEmbeddedEvents(added, {
      ...options,
      apps: appRegistry,
      imports: new SqlImportedUsage(database, MAX_IMPORT_CHARACTERS),
      classifications: classificationStore,
    });
    const { ledger, recentGenerations, rowsCaughtUp, settleInterrupted, report, close } =
      await openEmbeddedLedger({
        directory: options.directory,
        generations: {
          async add(generations) {
            await generationStore.add(generations);
            events.rowsAdded(generations);
          },
          count: () => generationStore.count(),
        },
        unfedRows: () => events.waiting,
        mark: new SqlLedgerMark(database),
        acceptLoss: options.acceptLoss,
        exists: await existing(tenancy, classifierStore),
        durability: options.durability,
        generationMs: options.generationMs,
        completeRow: options.completeRow,
        clock: options.clock,
        isHeld: () => backups.isInUse(options.clock.now()),
        warn: options.warn,
        slowDisk: options.slowDisk,
      });
    const eventsCaughtUp = async () => {
      await rowsCaughtUp();
      // A later pass logs why; a query then fails or lacks the newest.
      await events.catchUp().catch(() => {});
    };
    const spooledContents = new SqlSpooledContents(database, options);
    const changes = new MemoryChanges(options.clock);
    changes.subscribe(({ kind }) => {
      if (kind === 'classifications') events.lookForTags();
    });
    return {
      changes,
      tenancy,
      byokStore: new SqlByokStore(database, emptyWriteLog),
      guardrailStore: new SqlGuardrailStore(database),
      destinationStore: new SqlDestinationStore(database, emptyWriteLog),
      gatewayProviderStore: new SqlGatewayProviderStore(database, emptyWriteLog),
      memberStore: new SqlMemberStore(database),
      classifierStore,
      classificationStore,
      classifierRunStore: new SqlClassifierRunStore(database),
      mcpMemory: new SqlMcpMemory(database),
      sessionStore: new SqlSessionStore(database),
      priceStore: new SqlPriceStore(database),
      callCountStore: new SqlCallCountStore(database),
      generationStore,
      refusedRequests: {
        async add(requests) {
          await refused.add(requests);
          events.refusedAdded(requests.map(refusedGeneration));
        },
        find: (accountId, id) => refused.find(accountId, id),
        ownerOfDeleted: (keyHash) => refused.ownerOfDeleted(keyHash),
        prune: (beforeMs, limit) => refused.prune(beforeMs, limit),
      },
      fileStore: new SqlFileStore(database),
      appRegistry: appsAfterCatchUp(appRegistry, eventsCaughtUp),
      eventStore: eventsAfterCatchUp(events.eventStore, eventsCaughtUp),
      eventFeed: {
        async refill() {
          await rowsCaughtUp();
          return events.refill();
        },
      },
      settledRows: new SqliteSettledRows(database),
      followerNotes: SqlFollowerNotes.embedded(database),
      spooledContents,
      ledger,
      recentGenerations,
      settleInterrupted,
      sharedStores: undefined,
      whenDatabaseUp: (work) => work(),
      isDatabaseUp: () => true,
      restartReason: () => null,
      recovery: report,
      async close() {
        await close();
        await events.close();
        await spooledContents.close();
        await database.destroy();
      },
    };
  } catch (error) {
    await database.destroy();
    throw error;
  }
}

const WORKSPACES_AT_ONCE = 1_000;

/** The keys and workspaces of all accounts. */
async function existing(
  tenancy: Tenancy,
  classifiers: Pick<ClassifierStore, 'listIds'>,
): Promise<Record<ForgettableScope, ReadonlySet<string>>> {
  const workspaces = new Set<string>();
  for (const { id } of await tenancy.listAccounts()) {
    for (let offset = 0, total = 1; offset < total; offset += WORKSPACES_AT_ONCE) {
      const page = await tenancy.listWorkspaces(id, { offset, limit: WORKSPACES_AT_ONCE });
      total = page.total;
      for (const workspace of page.workspaces) workspaces.add(workspace.id);
    }
  }
  const keys = (await tenancy.listKeys()).map(({ hash }) => hash);
  const classifierKeys = (await classifiers.listIds()).map(classifierKey);
  return { key: new Set([...keys, ...classifierKeys]), workspace: workspaces };
}
