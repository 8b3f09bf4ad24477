import { randomUUID } from 'node:crypto';
import type { Amount } from '../../src/ir/amount.ts';
import { systemClock } from '../../src/kit/ids.ts';
import type { Limits, NewGeneration, Use } from '../../src/ports/ledger.ts';
import type { OpenedLedger } from '../../src/store/ledger/opened-ledger.ts';
import {
  openPostgresLedger,
  type PostgresLedgerSettings,
} from '../../src/store/sql/ledger/open-postgres-ledger.ts';
import { type OpenedPostgres, openPostgres } from '../../src/store/sql/open-postgres.ts';
import { SqlGenerationStore } from '../../src/store/sql/sql-generation-store.ts';
import { temporaryDirectory } from '../contracts/temporary-directory.ts';
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
  readonly warnings: readonly Warning[];
}

/** Ledgers of gateways on one database, for a test. */
export class LedgerBench {
  readonly postgres: OpenedPostgres;
  readonly rows: SqlGenerationStore;
  readonly #closers: (() => Promise<void> | void)[];

  static async open(server: PostgresServer): Promise<LedgerBench> {
    const postgres = await openPostgres(addressOf(await server.emptyDatabase()), { nowMs: 1 });
    return new LedgerBench(postgres);
  }

  constructor(postgres: OpenedPostgres) {
    this.postgres = postgres;
    this.rows = new SqlGenerationStore(postgres.database);
    this.#closers = [() => postgres.close()];
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
    const opened = await openPostgresLedger({
      directory,
      postgres: this.postgres,
      gatewayId: directory,
      generationMs: () => 60_000,
      durability: () => 'process',
      clock: systemClock,
      warn: (message, fields = {}) => warnings.push({ message, fields }),
      sweepMs: 3_600_000,
      ...more,
    });
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= opened.close();
      return closing;
    };
    this.#closers.push(close);
    return { ...opened, warnings, close };
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}

/** An id that no other generation has. */
export const freshId = (): string => `gen-${randomUUID()}`;
