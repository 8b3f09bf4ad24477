import type { Nanos } from '../../kit/money.ts';
import type { Ledger, Spending } from '../../ports/money/ledger.ts';
import type { Key } from '../../ports/tenancy/tenancy.ts';
import { ledgerOr503 } from '../refusals.ts';
import { remainingNanos } from '../spent-of-limit.ts';
import { keyLimitOf } from './limits.ts';

export interface KeyStatement {
  readonly key: Key;
  readonly spending: Spending;
  /** Null = no limit. */
  readonly remainingNanos: Nanos | null;
}

export async function keyStatement(
  ledger: Pick<Ledger, 'spendingOf'>,
  key: Key,
  atMs: number,
): Promise<KeyStatement> {
  const [spending] = await ledgerOr503(ledger.spendingOf('key', [key.hash], atMs));
  return statementOf(key, spending);
}

/** The statements of several keys, in the order given. */
export async function keyStatements(
  ledger: Pick<Ledger, 'spendingOf'>,
  keys: readonly Key[],
  atMs: number,
): Promise<KeyStatement[]> {
  const hashes = keys.map(({ hash }) => hash);
  const spendings = await ledgerOr503(ledger.spendingOf('key', hashes, atMs));
  return keys.map((key, index) => statementOf(key, spendings[index]));
}

function statementOf(key: Key, spending: Spending | undefined): KeyStatement {
  if (spending === undefined) throw new Error('the ledger left a key out');
  const limit = keyLimitOf(key);
  return { key, spending, remainingNanos: limit && remainingNanos(limit, spending) };
}
