import { type ForgettableScope, type Ledger, LedgerUnavailable } from '../../ports/money/ledger.ts';

/**
 * Drops the spending of deleted keys or a deleted workspace from the ledger. If the ledger is unavailable it stays,
 * which does no harm: a deleted key or workspace cannot spend.
 */
export async function forgetSpending(
  ledger: Pick<Ledger, 'forget'>,
  scope: ForgettableScope,
  ids: readonly string[],
  atMs: number,
): Promise<void> {
  for (const id of ids) {
    try {
      await ledger.forget(scope, id, atMs);
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
    }
  }
}
