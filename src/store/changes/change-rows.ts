import type { Change } from '../../ports/shared/changes.ts';

/** Runs a statement on any connection to the database. */
export type AskDatabase = <Row>(
  statement: string,
  parameters: readonly unknown[],
) => Promise<{ readonly rows: readonly Row[] }>;

/** How far the table of changes has been read. */
export interface ChangePosition {
  /** Transactions before this one are over, and their changes were read. */
  readonly horizon: string;
  /** Transactions from the horizon on whose changes were read. */
  readonly read: ReadonlySet<string>;
  /** When the server started: ids of transactions are comparable within one run of it. */
  readonly server: string;
}

/** Changes since a position. */
export interface ChangePage {
  readonly changes: readonly Change[];
  readonly position: ChangePosition;
}

/**
 * One row without a change if there is none. Transactions end in another order than they begin: everything from the
 * oldest one that was running is read again, and what was read before is left out afterwards.
 */
const READ = `
  select
    pg_snapshot_xmin(pg_current_snapshot())::text as horizon,
    pg_postmaster_start_time()::text as server,
    changes.changed_in::text as transaction,
    changes.kind,
    changes.subject
  from (select 1) as always left join changes on changes.changed_in >= $1::text::xid8`;

interface ReadRow {
  readonly horizon: string;
  readonly server: string;
  readonly transaction: string | null;
  readonly kind: string | null;
  readonly subject: string | null;
}

/** Beyond all transactions. */
const END = '18446744073709551615';

/**
 * Reads the changes since a position. Without one, or on another server or run of it, anything may have changed. The
 * changes of a transaction become visible together, so that a transaction is read as a whole or not at all.
 */
export async function readChanges(ask: AskDatabase, last: ChangePosition | undefined): Promise<ChangePage> {
  const { rows } = await ask<ReadRow>(READ, [last?.horizon ?? END]);
  const [first] = rows;
  if (first === undefined) throw new Error('the statement that reads changes returned no row');
  const { horizon, server } = first;
  const isContinued = last?.server === server;
  const changes = new Map<string, Change>();
  const read = new Set<string>();
  for (const { transaction, kind, subject } of rows) {
    if (transaction === null) continue;
    if (BigInt(transaction) >= BigInt(horizon)) read.add(transaction);
    if (isContinued && !last.read.has(transaction))
      changes.set(`${kind} ${subject}`, changeOf(kind, subject));
  }
  return {
    changes: isContinued ? [...changes.values()] : [{ kind: 'anything' }],
    position: { horizon, read, server },
  };
}

/** A kind that a newer release has added may concern anything. */
function changeOf(kind: string | null, subject: string | null): Change {
  switch (kind) {
    case 'key':
      return { kind, hash: subject ?? '' };
    case 'workspace':
    case 'member':
      return { kind, id: subject ?? '' };
    case 'guardrails':
    case 'credentials':
      return { kind, accountId: subject ?? '' };
    case 'providers':
    case 'imported-usage':
    case 'classifications':
      return { kind };
    default:
      return { kind: 'anything' };
  }
}

/** Removes changes that are older than `keptMs`, by the clock of the database. */
export async function pruneChanges(ask: AskDatabase, keptMs: number): Promise<void> {
  await ask(
    'delete from changes where changed_at_ms < extract(epoch from clock_timestamp()) * 1000 - $1::text::bigint',
    [String(keptMs)],
  );
}
