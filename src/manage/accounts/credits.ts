import type { Nanos } from '../../kit/money.ts';
import type { Ledger } from '../../ports/money/ledger.ts';
import { ledgerOr503 } from '../refusals.ts';
import type { Sources } from '../sources.ts';

/** The balance of an account, settled money only. */
export interface AccountBalance {
  readonly usedNanos: Nanos;
  /** Null = not enforced. Negative only if the operator set it below the reserved amount. */
  readonly leftNanos: Nanos | null;
}

export class Credits {
  readonly #ledger: Pick<Ledger, 'statementOf' | 'grant'>;
  readonly #sources: Sources;

  constructor(ledger: Pick<Ledger, 'statementOf' | 'grant'>, sources: Sources) {
    this.#ledger = ledger;
    this.#sources = sources;
  }

  async of(accountId: string): Promise<AccountBalance> {
    const { grantedNanos, settledNanos } = await ledgerOr503(this.#ledger.statementOf(accountId));
    return {
      usedNanos: settledNanos,
      leftNanos: grantedNanos === null ? null : grantedNanos - settledNanos,
    };
  }

  /** Sets the remaining balance; null = not enforced any more. */
  async set(accountId: string, leftNanos: Nanos | null): Promise<AccountBalance> {
    await ledgerOr503(this.#ledger.grant(accountId, leftNanos, this.#sources.clock.now()));
    return this.of(accountId);
  }
}
