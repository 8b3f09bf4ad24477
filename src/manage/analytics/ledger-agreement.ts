import type { OverviewLedger } from '../../contract/analytics/overview.ts';
import { isoTimeOrNull } from '../../contract/values/iso-time.ts';
import { type Nanos, usdOf } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { EventFilter, EventStore } from '../../ports/events/events.ts';
import type { Ledger } from '../../ports/money/ledger.ts';
import { ledgerOr503 } from '../refusals.ts';

/** Whose figures are wanted: an account's, or one key's of it. */
export interface OverviewScope {
  readonly accountId: string;
  /** Null = the whole account. */
  readonly keyHash: string | null;
}

export interface AgreementSources {
  readonly events: Pick<EventStore, 'query'>;
  readonly ledger: Pick<Ledger, 'spendingOf'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly signal: AbortSignal;
}

const DAY_MS = 86_400_000;

/** The whole days that any event can be of. */
const ALL_TIME = { startMs: 0, endMs: 2 ** 26 * DAY_MS };

/** How far the newest generation is searched for. */
const NEWEST_MS = DAY_MS;

export function scopeFilters({ keyHash }: OverviewScope): EventFilter[] {
  return keyHash === null
    ? []
    : [{ field: 'api_key_id', operator: 'eq', values: [keyHash], includesUnset: false }];
}

/**
 * Compares what the ledger booked with the sum of events. The ledger is read before and after the events: a sum
 * between the two agrees, because generations settle meanwhile.
 */
export async function ledgerAgreement(
  scope: OverviewScope,
  { events, ledger, clock, signal }: AgreementSources,
): Promise<OverviewLedger> {
  const nowMs = clock.now();
  const booked = (): Promise<Nanos> => bookedNanos(ledger, scope, nowMs);
  const question = {
    accountId: scope.accountId,
    granularity: null,
    filters: scopeFilters(scope),
    order: null,
    groupLimit: null,
  };
  const first = await booked();
  const { rows } = await events.query(
    { ...question, ...ALL_TIME, metrics: ['total_usage'], dimensions: ['imported'], limit: 2 },
    signal,
  );
  const last = await booked();
  const newest = await events.query(
    {
      ...question,
      startMs: nowMs - NEWEST_MS,
      endMs: nowMs + DAY_MS,
      metrics: ['newest_ms'],
      dimensions: [],
      limit: 1,
    },
    signal,
  );
  const sumOf = (imported: string): Nanos =>
    BigInt(rows.find(({ dimensions }) => dimensions[0] === imported)?.metrics[0] ?? 0);
  const counted = sumOf('false');
  const compared = counted < first ? first : counted > last ? last : counted;
  const newestMs = newest.rows[0]?.metrics[0] ?? null;
  return {
    state: counted < first ? 'behind' : counted > last ? 'differs' : 'agrees',
    booked: usdOf(compared),
    counted: usdOf(counted),
    difference: usdOf(counted - compared),
    imported: usdOf(sumOf('true')),
    newest_generation_at: isoTimeOrNull(newestMs === null ? null : Number(newestMs)),
  };
}

async function bookedNanos(
  ledger: AgreementSources['ledger'],
  { accountId, keyHash }: OverviewScope,
  atMs: number,
): Promise<Nanos> {
  const asked =
    keyHash === null
      ? ledger.spendingOf('account', [accountId], atMs)
      : ledger.spendingOf('key', [keyHash], atMs);
  const [spending] = await ledgerOr503(asked);
  return (spending?.credit.lifetime ?? 0n) + (spending?.byok.lifetime ?? 0n);
}
