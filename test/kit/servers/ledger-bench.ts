import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Amount } from '../../../src/ir/amount.ts';
import type { DatabaseAddress } from '../../../src/kit/net/database-address.ts';
import type { Limits, NewGeneration, Use } from '../../../src/ports/money/ledger.ts';
import type { OpenedLedger } from '../../../src/store/ledger/opened-ledger.ts';
import {
  openPostgresLedger,
  type PostgresLedgerSettings,
} from '../../../src/store/ledger/postgres/open-postgres-ledger.ts';
import type { PostgresLedger } from '../../../src/store/ledger/postgres/postgres-ledger.ts';
import { databaseClock } from '../../../src/store/ledger/postgres/tallies/database-clock.ts';
import { DatabaseUnavailable } from '../../../src/store/sql/database-unavailable.ts';
import { type OpenedPostgres, openPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { SqlGenerationStore } from '../../../src/store/sql/stores/sql-generation-store.ts';
import type { Tables } from '../../../src/store/sql/tables.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { addressOf, type PostgresServer } from './postgres-server.ts';

export const SCOPES = { key: 'key-1', workspace: 'workspace-1', account: 'account-1' };

export const NO_LIMITS: Limits = { key: [], workspace: [] };

export const credit = (creditNanos: bigint): Amount => ({ creditNanos, byokNanos: 0n });

/** A limit of the key, over everything. */
export const keyLimit = (nanos: bigint): Limits => ({
  key: [{ window: 'lifetime', nanos, countsByok: false }],
  workspace: [],
});

export const generation = (generationId: string, limits = NO_LIMITS): NewGeneration => ({
  generationId,
  scopes: SCOPES,
  limits,
  atMs: Date.now(),
  row: { id: generationId, model: 'acme/one' },
});

export const use = (nanos: bigint, more: Partial<Use> = {}): Use => ({
  used: credit(nanos),
  row: { finish_reason: 'stop' },
  atMs: Date.now(),
  ...more,
});

/** A line that a ledger has warned with. */
export interface Warning {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A gateway's ledger, and what it has warned of. */
export interface BenchLedger extends OpenedLedger {
  readonly ledger: PostgresLedger;
  readonly warnings: readonly Warning[];
  /** Whether its database answers it. */
  setAway(isAway: boolean): void;
  /** How late its database answers, milliseconds. */
  setLate(ms: number): void;
  /** Statements that it has sent. */
  statements(): number;
  /** Ends it without another word to the database. What it has written to its disk is there. */
  crash(): Promise<void>;
}

/** Ledgers of gateways on one database, for a test. The scopes of `SCOPES` exist. */
export class LedgerBench {
  readonly postgres: OpenedPostgres;
  readonly address: DatabaseAddress;
  readonly rows: SqlGenerationStore;
  readonly #closers: (() => Promise<void> | void)[];
  #timeMs: number | undefined;

  static async open(server: PostgresServer): Promise<LedgerBench> {
    const address = addressOf(await server.emptyDatabase());
    const bench = new LedgerBench(await openPostgres(address, { nowMs: 1 }), address);
    await bench.addScopes();
    return bench;
  }

  constructor(postgres: OpenedPostgres, address: DatabaseAddress) {
    this.postgres = postgres;
    this.address = address;
    this.rows = new SqlGenerationStore(postgres.database);
    this.#closers = [() => postgres.close()];
  }

  /** The time of the database and of all gateways that have no clock of their own. */
  get timeMs(): number {
    return this.#timeMs ?? Date.now();
  }

  set timeMs(ms: number) {
    this.#timeMs = ms;
  }

  /** A data directory that is removed in the end. */
  directory(): string {
    const directory = temporaryDirectory();
    this.#closers.push(() => directory.remove());
    return directory.path;
  }

  /** Opens the ledger of the gateway with this data directory. */
  async ledger(directory: string, more: Partial<PostgresLedgerSettings> = {}): Promise<BenchLedger> {
    const warnings: Warning[] = [];
    let isCut = false;
    let lateMs = 0;
    let statements = 0;
    const isLost = () => {
      statements += 1;
      return isCut;
    };
    const opened = await openPostgresLedger({
      directory,
      postgres: {
        ...this.postgres,
        database: late(cuttable(this.postgres.database, isLost), () => lateMs),
        isUp: () => !isCut,
      },
      gatewayId: directory,
      generationMs: () => 60_000,
      durability: () => 'process',
      clock: { now: () => this.timeMs, monotonic: () => this.#timeMs ?? performance.now() },
      databaseClock: () =>
        this.#timeMs === undefined ? databaseClock() : sql`${String(this.#timeMs)}::bigint`,
      warn: (message, fields = {}) => warnings.push({ message, fields }),
      sweepMs: 3_600_000,
      ...more,
    });
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= opened.close();
      return closing;
    };
    const crash = () => {
      isCut = true;
      return close();
    };
    this.#closers.push(close);
    const setAway = (isAway: boolean) => {
      isCut = isAway;
    };
    return {
      ...opened,
      ledger: opened.ledger as PostgresLedger,
      warnings,
      setAway,
      setLate(ms) {
        lateMs = ms;
      },
      statements: () => statements,
      close,
      crash,
    };
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }

  /** Adds the account, the workspace and the key of `SCOPES`. */
  async addScopes(): Promise<void> {
    const { database } = this.postgres;
    const { key, workspace, account } = SCOPES;
    await sql`insert into accounts (id, name, created_at_ms) values (${account}, ${account}, 1)`.execute(
      database,
    );
    await sql`insert into workspaces (id, account_id, slug, name, is_default, created_at_ms)
      values (${workspace}, ${account}, 'default', 'Default', 1, 1)`.execute(database);
    await sql`insert into keys
      (hash, account_id, workspace_id, name, label, is_management, disabled, created_at_ms)
      values (${key}, ${account}, ${workspace}, 'n', 'l', 0, 0, 1)`.execute(database);
  }
}

/** The database, as a gateway sees it that may lose it. */
export function cuttable(database: Kysely<Tables>, isCut: () => boolean): Kysely<Tables> {
  return database.withPlugin({
    transformQuery({ node }) {
      if (isCut()) throw new DatabaseUnavailable();
      return node;
    },
    transformResult: async ({ result }) => result,
  });
}

/** The database, as a gateway sees it whose answers come late. */
function late(database: Kysely<Tables>, lateMs: () => number): Kysely<Tables> {
  return database.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (lateMs() > 0) await delay(lateMs());
      return result;
    },
  });
}
