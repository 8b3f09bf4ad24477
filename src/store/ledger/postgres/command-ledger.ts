import type { Kysely } from 'kysely';
import type { Nanos } from '../../../kit/money.ts';
import type { RecentGenerations, StoredGeneration } from '../../../ports/generations/generations.ts';
import {
  type AccountStatement,
  type BalanceLeft,
  type FinalCharge,
  type ForgettableScope,
  type Ledger,
  type LedgerReport,
  LedgerUnavailable,
  type ReserveOutcome,
  type RunningGeneration,
  type Scope,
  type Spending,
  type TopUpOutcome,
} from '../../../ports/money/ledger.ts';
import type { Tables } from '../../sql/tables.ts';
import { WriteOffs } from '../books/write-offs.ts';
import { orLedgerUnavailable } from './ledger-unavailable.ts';
import { balancesIn, statementIn, totalsIn } from './tallies/account-statements.ts';
import { databaseClock } from './tallies/database-clock.ts';
import { forgetIn, grantIn, spendingIn } from './tallies/spending-and-grants.ts';

export interface CommandLedgerOptions {
  readonly database: Kysely<Tables>;
  /** For long statements. */
  readonly background: Kysely<Tables>;
  /** Size of the outbox in the data directory. */
  readonly journal: LedgerReport['journal'];
}

/**
 * The ledger of a command: reads and changes the books in the database, but accepts, settles and books no generations.
 * It leaves the outbox alone, which may be a copy of a running gateway's: only a gateway can find that out.
 */
export class CommandLedger implements Ledger, RecentGenerations {
  readonly #options: CommandLedgerOptions;
  readonly openReservations = 0;
  readonly reconciled = 0;
  readonly isAvailable = false;
  readonly admitting = 'none';
  readonly clockAheadMs = null;
  readonly slices = null;
  readonly disk = { waitingMs: 0, slowWrites: 0, longestMs: 0 };
  readonly lag = {};
  readonly writtenOff = new WriteOffs().sums;

  constructor(options: CommandLedgerOptions) {
    this.#options = options;
  }

  async reserve(): Promise<ReserveOutcome> {
    throw onlyServing();
  }

  async topUp(): Promise<TopUpOutcome> {
    return { ok: false, refusal: null };
  }

  async checkpoint(): Promise<void> {}

  async runningOf(): Promise<readonly RunningGeneration[]> {
    return [];
  }

  async settle(): Promise<FinalCharge> {
    throw onlyServing();
  }

  async void(): Promise<void> {}

  grant(accountId: string, leftNanos: Nanos | null, atMs: number): Promise<void> {
    return orLedgerUnavailable(grantIn(this.#options.database, accountId, leftNanos, atMs));
  }

  balancesLeft(limit: number): Promise<readonly BalanceLeft[]> {
    return orLedgerUnavailable(balancesIn(this.#options.database, limit));
  }

  forget(scope: ForgettableScope, id: string): Promise<void> {
    return orLedgerUnavailable(forgetIn(this.#options.database, scope, id));
  }

  spendingOf(scope: Scope, ids: readonly string[]): Promise<Spending[]> {
    return orLedgerUnavailable(spendingIn(this.#options.database, scope, ids, databaseClock));
  }

  statementOf(accountId: string): Promise<AccountStatement> {
    return orLedgerUnavailable(statementIn(this.#options.database, accountId));
  }

  async verify(): Promise<LedgerReport> {
    const { background, journal } = this.#options;
    return { ...(await orLedgerUnavailable(totalsIn(background))), journal };
  }

  async rebuild(): Promise<number> {
    return (await orLedgerUnavailable(totalsIn(this.#options.background))).generations;
  }

  recent(): StoredGeneration | undefined {
    return undefined;
  }
}

function onlyServing(): LedgerUnavailable {
  return new LedgerUnavailable('a command begins and settles no generations');
}
