import { type Nanos, usdOf } from '../kit/money.ts';
import { type AccountStatement, type Fault, hasMoney, type LedgerReport } from '../ports/ledger.ts';
import type { Account } from '../ports/tenancy.ts';

/** The balance of an account, and whether its books are consistent. */
export interface StatementView {
  readonly id: string;
  readonly name: string;
  /** Null = not enforced. */
  readonly granted_usd: number | null;
  readonly settled_usd: number;
  readonly reserved_usd: number;
  /** Null = not enforced. */
  readonly left_usd: number | null;
  /** Size of the fault; for `tally` the booked amount, which may be 0. */
  readonly difference_nanos: number;
  /** Null = consistent. */
  readonly fault: Fault | null;
  /** Usage beyond reservations and limits, charged to no account. */
  readonly written_off_usd: number;
}

/** The books as a whole. */
export interface LedgerView {
  readonly accounts: readonly StatementView[];
  readonly open_reservations: number;
  readonly generations: number;
  readonly journal: { readonly segments: number; readonly bytes: number; readonly torn_tail_bytes: number };
}

/** Result of `ledger rebuild`. */
export interface RebuildView {
  /** Generations with rows. */
  readonly generations: number;
  /** Events, imported ones included. */
  readonly events: number;
}

/** A report with all accounts by name. Ids without an account are listed if they have money or a fault. */
export function ledgerView(report: LedgerReport, accounts: readonly Account[]): LedgerView {
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const statements = new Map(
    report.accounts
      .filter((statement) => names.has(statement.accountId) || hasMoney(statement))
      .map((statement) => [statement.accountId, statement]),
  );
  return {
    accounts: [...new Set([...names.keys(), ...statements.keys()])].map((id) =>
      statementView(statements.get(id) ?? nothingOf(id), names.get(id) ?? id),
    ),
    open_reservations: report.openReservations,
    generations: report.generations,
    journal: {
      segments: report.journal.segments,
      bytes: report.journal.bytes,
      torn_tail_bytes: report.journal.tornTailBytes,
    },
  };
}

/** One account by its name. */
export function statementView(statement: AccountStatement, name: string): StatementView {
  return {
    id: statement.accountId,
    name,
    granted_usd: usdOrNull(statement.grantedNanos),
    settled_usd: usdOf(statement.settledNanos),
    reserved_usd: usdOf(statement.reservedNanos),
    left_usd: usdOrNull(statement.leftNanos),
    difference_nanos: Number(statement.differenceNanos),
    fault: statement.fault,
    written_off_usd: usdOf(statement.writtenOffNanos),
  };
}

function usdOrNull(nanos: Nanos | null): number | null {
  return nanos === null ? null : usdOf(nanos);
}

function nothingOf(accountId: string): AccountStatement {
  return {
    accountId,
    grantedNanos: null,
    settledNanos: 0n,
    reservedNanos: 0n,
    leftNanos: null,
    writtenOffNanos: 0n,
    differenceNanos: 0n,
    fault: null,
  };
}
