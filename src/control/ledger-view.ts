import { type Nanos, usdOf } from '../kit/money.ts';
import type { AccountWriteOff } from '../ports/generations/generations.ts';
import { type AccountStatement, type Fault, hasMoney, type LedgerReport } from '../ports/money/ledger.ts';
import type { WriteOff } from '../ports/money/write-offs.ts';
import type { Account } from '../ports/tenancy/tenancy.ts';

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

export interface AccountView extends StatementView {
  /** `written_off_usd` by cause, largest first; `older`: of generations whose records are not kept any more. */
  readonly written_off_by_cause: Readonly<Record<string, number>>;
}

export interface LedgerView {
  readonly accounts: readonly AccountView[];
  readonly open_reservations: number;
  readonly generations: number;
  readonly journal: { readonly segments: number; readonly bytes: number; readonly torn_tail_bytes: number };
}

export interface RebuildView {
  readonly generations: number;
  /** Events, imported ones included. */
  readonly events: number;
}

/**
 * A report with all accounts by name. Ids without an account are listed if they have money or a fault. `writeOffs`:
 * those of the generations whose records are kept.
 */
export function ledgerView(
  report: LedgerReport,
  accounts: readonly Account[],
  writeOffs: readonly AccountWriteOff[],
): LedgerView {
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const statements = new Map(
    report.accounts
      .filter((statement) => names.has(statement.accountId) || hasMoney(statement))
      .map((statement) => [statement.accountId, statement]),
  );
  return {
    accounts: [...new Set([...names.keys(), ...statements.keys()])].map((id) =>
      accountView(
        statements.get(id) ?? nothingOf(id),
        names.get(id) ?? id,
        writeOffs.filter(({ accountId }) => accountId === id),
      ),
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

function accountView(statement: AccountStatement, name: string, writeOffs: readonly WriteOff[]): AccountView {
  const olderNanos = writeOffs.reduce((left, { nanos }) => left - nanos, statement.writtenOffNanos);
  return {
    ...statementView(statement, name),
    written_off_by_cause: {
      ...Object.fromEntries(writeOffs.map(({ cause, nanos }) => [cause, usdOf(nanos)])),
      ...(olderNanos > 0n && { older: usdOf(olderNanos) }),
    },
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
