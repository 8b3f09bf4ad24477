import type { Amount } from '../../../ir/amount.ts';
import type { Nanos } from '../../../kit/money.ts';
import { LIMIT_WINDOWS } from '../../../kit/time/windows.ts';
import type {
  Headroom,
  Limit,
  Limits,
  Refusal,
  Scope,
  ScopeIds,
  Spending,
} from '../../../ports/money/ledger.ts';

/** All scopes, in the order in which limits are checked. */
export const SCOPES = ['key', 'member', 'workspace', 'account'] as const satisfies readonly Scope[];

const NO_LIMITS: readonly Limit[] = [];

/** The scopes that a generation counts in: all but that of a member which is not counted. */
export function countedScopes({ member }: ScopeIds): readonly Scope[] {
  return member === undefined ? SCOPES_WITHOUT_MEMBER : SCOPES;
}

const SCOPES_WITHOUT_MEMBER: readonly Scope[] = SCOPES.filter((scope) => scope !== 'member');

export function idIn(scopes: ScopeIds, scope: Scope): string {
  return scopes[scope] ?? '';
}

/** The limits of a scope other than the account, whose limit is its balance. */
export function limitsIn(limits: Limits, scope: Exclude<Scope, 'account'>): readonly Limit[] {
  return limits[scope] ?? NO_LIMITS;
}

export interface Standing {
  readonly scope: Scope;
  readonly limit: Limit;
  /** Neither spent nor reserved. Negative after the limit was lowered. */
  readonly leftNanos: Nanos;
  /** Not spent, whatever is reserved. Negative after the limit was lowered. */
  readonly unspentNanos: Nanos;
}

export function countedNanos({ countsByok }: Limit, { creditNanos, byokNanos }: Amount): Nanos {
  return countsByok ? creditNanos + byokNanos : creditNanos;
}

export function spentNanos({ window, countsByok }: Limit, { credit, byok }: Spending): Nanos {
  return countsByok ? credit[window] + byok[window] : credit[window];
}

/** The tightest of the limits that an amount would exceed; undefined when it exceeds none. */
export function refusalOf(standings: readonly Standing[], amount: Amount): Refusal | undefined {
  return refusalBy(tightestOf(standings, (standing) => !isWithin(standing, amount)));
}

/** The tightest of all limits; undefined when there is none. */
export function tightestLimit(standings: readonly Standing[]): Refusal | undefined {
  return refusalBy(tightestOf(standings, () => true));
}

/** The refusal when `size` found too little: the tightest limit. Throws when there is none. */
export function tooLittle(standings: readonly Standing[]): Refusal {
  const refusal = tightestLimit(standings);
  if (refusal === undefined) throw new RangeError('no limit applies, but `size` found too little');
  return refusal;
}

function refusalBy(standing: Standing | undefined): Refusal | undefined {
  if (standing === undefined) return undefined;
  const { scope, limit, leftNanos } = standing;
  return {
    scope,
    window: limit.window,
    limitNanos: limit.nanos,
    leftNanos: atLeastZero(leftNanos),
    ...(limit.guardrailId !== undefined && { guardrailId: limit.guardrailId }),
  };
}

/**
 * The limit that leaves least. Among exhausted limits of one scope it is the one with the longest window, because it
 * resets last.
 */
function tightestOf(
  standings: readonly Standing[],
  isConcerned: (standing: Standing) => boolean,
): Standing | undefined {
  let tightest: Standing | undefined;
  for (const standing of standings) {
    if (!isConcerned(standing)) continue;
    if (tightest === undefined || isTighter(standing, tightest)) tightest = standing;
  }
  return tightest;
}

function isTighter(one: Standing, other: Standing): boolean {
  const areBothGone = one.leftNanos <= 0n && other.leftNanos <= 0n;
  if (one.scope !== other.scope || !areBothGone) return one.leftNanos < other.leftNanos;
  return LIMIT_WINDOWS.indexOf(one.limit.window) > LIMIT_WINDOWS.indexOf(other.limit.window);
}

/** An amount of zero passes even a limit that was lowered below what is spent. */
function isWithin({ limit, leftNanos }: Standing, amount: Amount): boolean {
  const counted = countedNanos(limit, amount);
  return counted === 0n || counted <= leftNanos;
}

export function headroomWithin(standings: readonly Standing[]): Headroom {
  return {
    affordable: { creditNanos: least(standings, false, left), totalNanos: least(standings, true, left) },
    unspent: { creditNanos: least(standings, false, unspent), totalNanos: least(standings, true, unspent) },
  };
}

/**
 * The charge of a settlement: all of the use up to the reservation, and beyond that what the limits still leave. The
 * rest is the operator's loss. BYOK usage is recorded in full, because the account's own provider bills it.
 */
export function chargeWithin(standings: readonly Standing[], reserved: Amount, used: Amount): Amount {
  let creditNanos = used.creditNanos;
  for (const { limit, leftNanos } of standings) {
    const own = leftNanos + countedNanos(limit, reserved) - (limit.countsByok ? used.byokNanos : 0n);
    const most = own > reserved.creditNanos ? own : reserved.creditNanos;
    if (creditNanos > most) creditNanos = most;
  }
  return { creditNanos, byokNanos: used.byokNanos };
}

const left = ({ leftNanos }: Standing): Nanos => leftNanos;
const unspent = ({ unspentNanos }: Standing): Nanos => unspentNanos;

function least(
  standings: readonly Standing[],
  countsByok: boolean,
  measure: (standing: Standing) => Nanos,
): Nanos | null {
  let least: Nanos | null = null;
  for (const standing of standings) {
    const nanos = measure(standing);
    if (standing.limit.countsByok === countsByok && (least === null || nanos < least)) least = nanos;
  }
  return least === null ? null : atLeastZero(least);
}

function atLeastZero(nanos: Nanos): Nanos {
  return nanos > 0n ? nanos : 0n;
}
