import { type ForgettableScope, type Ledger, LedgerUnavailable } from '../../ports/ledger.ts';

/**
 * Forgets what deleted keys or a deleted workspace have spent. A ledger that cannot record now keeps it: nobody can use
 * what it belongs to any more.
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
