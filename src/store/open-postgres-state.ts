import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import type { DatabaseAddress } from '../kit/net/database-address.ts';
import type { Changes } from '../ports/shared/changes.ts';
import { MemoryChanges } from './changes/memory-changes.ts';
import { PostgresChanges } from './changes/postgres-changes.ts';
import { embeddedDatabaseIn } from './directory/data-directory.ts';
import { GatewayIdentity } from './directory/gateway-identity.ts';
import { PostgresFeedLease } from './events/feed/postgres-feed-lease.ts';
import { openSharedEvents } from './events/open-events.ts';
import { examineOutbox } from './examine/examine-journal.ts';
import { PostgresSettledRows } from './following/postgres-settled-rows.ts';
import { SqlFollowerNotes } from './following/sql-follower-notes.ts';
import { SqlSpooledContents } from './following/sql-spooled-contents.ts';
import type { OpenedLedger } from './ledger/opened-ledger.ts';
import { readJournals } from './ledger/postgres/booking/journal-rows.ts';
import { CommandLedger } from './ledger/postgres/command-ledger.ts';
import { openPostgresLedger } from './ledger/postgres/open-postgres-ledger.ts';
import type { SliceBounds } from './ledger/postgres/slices/slice-size.ts';
import { openPostgresStores } from './shared-memory/postgres-stores.ts';
import { isDatabaseAway } from './sql/database-unavailable.ts';
import { GatewayLock } from './sql/postgres/gateway-lock.ts';
import { type OpenedPostgres, openPostgres } from './sql/postgres/open-postgres.ts';
import { BookedGenerations } from './sql/stores/booked-generations.ts';
import { SqlAppRegistry } from './sql/stores/sql-app-registry.ts';
import { SqlByokStore } from './sql/stores/sql-byok-store.ts';
import { SqlCallCountStore } from './sql/stores/sql-call-count-store.ts';
import { SqlClassificationStore } from './sql/stores/sql-classification-store.ts';
import { SqlClassifierRunStore } from './sql/stores/sql-classifier-run-store.ts';
import { SqlClassifierStore } from './sql/stores/sql-classifier-store.ts';
import { SqlDestinationStore } from './sql/stores/sql-destination-store.ts';
import { SqlFileStore } from './sql/stores/sql-file-store.ts';
import { SqlGatewayProviderStore } from './sql/stores/sql-gateway-provider-store.ts';
import { SqlGenerationStore } from './sql/stores/sql-generation-store.ts';
import { SqlGuardrailStore } from './sql/stores/sql-guardrail-store.ts';
import { MAX_IMPORT_CHARACTERS, SqlImportedUsage } from './sql/stores/sql-imported-usage.ts';
import { SqlMcpMemory } from './sql/stores/sql-mcp-memory.ts';
import { SqlMemberStore } from './sql/stores/sql-member-store.ts';
import { SqlPriceStore } from './sql/stores/sql-price-store.ts';
import { SqlRefusedRequests } from './sql/stores/sql-refused-requests.ts';
import { SqlSessionStore } from './sql/stores/sql-session-store.ts';
import { SqlTenancy } from './sql/stores/sql-tenancy.ts';
import type { State, StateOptions } from './state.ts';

export interface PostgresStateOptions extends StateOptions {
  readonly database: DatabaseAddress;
  /** Whether to wait for a database that does not answer. */
  readonly waitsForDatabase: boolean;
  /** True for a gateway, false for a command. Only a gateway opens the outbox, and settles and books what is in it. */
  readonly isGateway: boolean;
  /** How long rows of generations are kept, milliseconds. */
  retentionMs(): number;
  /** How much money is held ahead for keys that are used often; absent = none. */
  readonly slices?: (() => SliceBounds) | undefined;
}

/** Time between retries while the database does not answer, milliseconds. */
const RETRY_MS = 500;

/**
 * Opens state that several gateways share. Records wait in the data directory's outbox until they are booked. Rejects
 * with a DataDirectoryProblem when the database cannot be used, or does not answer and `waitsForDatabase` is false.
 */
export async function openPostgresState(options: PostgresStateOptions): Promise<State> {
  const { clock, warn, waitsForDatabase } = options;
  if (options.isGateway) warnOfEmbeddedData(options);
  const postgres = await openPostgres(options.database, {
    nowMs: clock.now(),
    mayMigrate: options.mayMigrate,
    warn,
    ...(waitsForDatabase && { waiting: (reason: string) => warn(reason) }),
  });
  try {
    const { ledger, recentGenerations, restartReason, settleInterrupted, report, close } = options.isGateway
      ? await openServingLedger(postgres, options)
      : await openCommandLedger(postgres, options);
    const appRegistry = new SqlAppRegistry(postgres.database);
    const classificationStore = new SqlClassificationStore(postgres.database);
    const events = await openSharedEvents(
      new BookedGenerations(postgres.background),
      new PostgresFeedLease(postgres.background),
      {
        ...options,
        apps: appRegistry,
        imports: new SqlImportedUsage(postgres.database, MAX_IMPORT_CHARACTERS),
        classifications: classificationStore,
      },
    );
    const changes = openChanges(postgres, options);
    changes.subscribe(({ kind }) => {
      if (kind === 'imported-usage' || kind === 'anything') events.lookForImports();
      if (kind === 'classifications' || kind === 'anything') events.lookForTags();
    });
    await changes.start();
    const sharedStores = options.isGateway
      ? openPostgresStores(postgres, options.database, clock)
      : undefined;
    const spooledContents = new SqlSpooledContents(postgres.background, options);
    return {
      changes,
      tenancy: new SqlTenancy(postgres.database),
      // PostgreSQL removes overwritten rows when it vacuums; a client cannot force that.
      byokStore: new SqlByokStore(postgres.database, async () => {}),
      guardrailStore: new SqlGuardrailStore(postgres.database),
      destinationStore: new SqlDestinationStore(postgres.database, async () => {}),
      gatewayProviderStore: new SqlGatewayProviderStore(postgres.database, async () => {}),
      memberStore: new SqlMemberStore(postgres.database),
      classifierStore: new SqlClassifierStore(postgres.database),
      classificationStore,
      classifierRunStore: new SqlClassifierRunStore(postgres.database),
      mcpMemory: new SqlMcpMemory(postgres.database),
      sessionStore: new SqlSessionStore(postgres.database),
      priceStore: new SqlPriceStore(postgres.database),
      callCountStore: new SqlCallCountStore(postgres.database),
      generationStore: new SqlGenerationStore(postgres.database),
      // The feed of events reads its rows, of all gateways.
      refusedRequests: new SqlRefusedRequests(postgres.database),
      fileStore: new SqlFileStore(postgres.database),
      appRegistry,
      eventStore: events.eventStore,
      eventFeed: events,
      settledRows: new PostgresSettledRows(postgres.background),
      followerNotes: SqlFollowerNotes.shared(postgres.background),
      spooledContents,
      ledger,
      recentGenerations,
      sharedStores,
      isDatabaseUp: postgres.isUp,
      // A command runs no generations.
      settleInterrupted: async (generationIds) => settleInterrupted?.(generationIds),
      restartReason: () => restartReason?.() ?? null,
      recovery: report,
      whenDatabaseUp: (work) => (waitsForDatabase ? untilDone(work) : work()),
      async close() {
        await changes.close();
        await sharedStores?.close();
        await close();
        await events.close();
        await spooledContents.close();
        await postgres.close();
      },
    };
  } catch (error) {
    await postgres.close();
    throw error;
  }
}

/** Keys that worked before `DATABASE_URL` was set are refused afterwards: the log has to say where they are. */
function warnOfEmbeddedData({ directory, warn }: PostgresStateOptions): void {
  const path = embeddedDatabaseIn(directory);
  if (!existsSync(path)) return;
  warn(
    'the data directory has an embedded database, which is not used: its accounts, keys and balances are not moved ' +
      'to PostgreSQL. Unset DATABASE_URL to use them, or move the file away',
    { path },
  );
}

/** Changes by all gateways; for a command, which ends soon, only its own. */
function openChanges(
  { database }: OpenedPostgres,
  { isGateway, database: address, clock, warn }: PostgresStateOptions,
): Changes & Pick<PostgresChanges, 'start' | 'close'> {
  if (!isGateway) {
    return Object.assign(new MemoryChanges(clock), { start: async () => {}, close: async () => {} });
  }
  return new PostgresChanges({
    address,
    askShared: (statement, parameters) =>
      database.executeQuery(CompiledQuery.raw(statement, [...parameters])) as Promise<never>,
    clock,
    warn,
  });
}

/** Opens the ledger of a gateway. Rejects with GatewayIdInUse when a gateway with a copy of the directory runs. */
async function openServingLedger(
  postgres: OpenedPostgres,
  {
    database: address,
    directory,
    generationMs,
    retentionMs,
    slices,
    durability,
    completeRow,
    clock,
    warn,
    slowDisk,
  }: PostgresStateOptions,
): Promise<StateLedger> {
  const identity = new GatewayIdentity(directory);
  const lock = new GatewayLock({ address, warn });
  try {
    return await openPostgresLedger({
      directory,
      postgres,
      gatewayId: identity.id,
      identity,
      lock,
      generationMs,
      retentionMs,
      slices,
      durability,
      completeRow,
      clock,
      warn,
      slowDisk,
    });
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Opens the ledger of a command. Its figures do not include records that wait in the outbox for their gateway. */
async function openCommandLedger(
  { database, background }: OpenedPostgres,
  { directory, warn }: PostgresStateOptions,
): Promise<StateLedger> {
  const { journal, openGenerations, unbookedGenerations } = await examineOutbox(
    directory,
    await readJournals(database),
  );
  if (openGenerations + unbookedGenerations > 0) {
    warn(
      'generations in the outbox of this data directory may not be in the figures yet; its gateway books ' +
        'them when it runs',
      { open: openGenerations, settled: unbookedGenerations },
    );
  }
  const ledger = new CommandLedger({ database, background, journal });
  return { ledger, recentGenerations: ledger, close: async () => {} };
}

type StateLedger = Pick<OpenedLedger, 'ledger' | 'recentGenerations' | 'restartReason' | 'close'> &
  Partial<Pick<OpenedLedger, 'report' | 'settleInterrupted'>>;

async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      await delay(RETRY_MS);
    }
  }
}
