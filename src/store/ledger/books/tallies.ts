import { type Amount, NOTHING } from '../../../ir/amount.ts';
import type { Scope, Spending } from '../../../ports/money/ledger.ts';
import { hasSpent, NOTHING_SPENT } from './spending.ts';

/** Spending of a key, a member, a workspace or an account, and reservations of its open generations. Immutable. */
export interface Tally {
  readonly spending: Spending;
  readonly reserved: Amount;
  /** Sequence of the last record that changed the spending. */
  readonly sequence: number;
}

/** A tally as a snapshot has it: without reservations, which follow from the open generations. */
export type TallyEntry = readonly [id: string, tally: Pick<Tally, 'spending' | 'sequence'>];

const EMPTY: Tally = { spending: NOTHING_SPENT, reserved: NOTHING, sequence: 0 };

export class Tallies {
  readonly #maps: Readonly<Record<Scope, Map<string, Tally>>>;

  constructor(entries?: Readonly<Record<Scope, readonly TallyEntry[]>>) {
    const mapOf = (scope: Scope) =>
      new Map(entries?.[scope].map(([id, tally]) => [id, { ...tally, reserved: NOTHING }]));
    this.#maps = {
      key: mapOf('key'),
      member: mapOf('member'),
      workspace: mapOf('workspace'),
      account: mapOf('account'),
    };
  }

  get(scope: Scope, id: string): Tally {
    return this.#maps[scope].get(id) ?? EMPTY;
  }

  /** Stores a tally; removes it when it is empty. */
  set(scope: Scope, id: string, tally: Tally): void {
    if (isEmpty(tally)) this.#maps[scope].delete(id);
    else this.#maps[scope].set(id, tally);
  }

  ids(scope: Scope): Iterable<string> {
    return this.#maps[scope].keys();
  }

  entries(): Readonly<Record<Scope, readonly TallyEntry[]>> {
    const { key, member, workspace, account } = this.#maps;
    return { key: [...key], member: [...member], workspace: [...workspace], account: [...account] };
  }
}

function isEmpty({ spending, reserved }: Tally): boolean {
  return !hasSpent(spending) && reserved.creditNanos === 0n && reserved.byokNanos === 0n;
}
