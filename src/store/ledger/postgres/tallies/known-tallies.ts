import { type Amount, NOTHING, plus } from '../../../../ir/amount.ts';
import type { Limits, ScopeIds } from '../../../../ports/money/ledger.ts';
import type { PayingScopes } from './reservation-sql.ts';
import { emptyTally, type SqlTally, type TalliesAt, tallyKeysOf, tallyName } from './tally-rows.ts';

/** Tallies in each half: those of some ten thousand keys. */
const HALF_TALLIES = 16_384;

/** How long it is known that no balance of an account is enforced, milliseconds. */
const UNLIMITED_MS = 300_000;

interface KnownTally {
  readonly tally: SqlTally;
  /** When the tally was seen, by the gateway's monotonic clock, milliseconds. */
  readonly seenAtMs: number;
}

/**
 * Tallies as the database has shown them last. They are out of date and decide nothing that the database can decide:
 * an amount is guessed from them, which saves a round trip, and while the database is away they tell whose generations
 * no limit covers. Kept in two halves of which the older is dropped as a whole.
 */
export class KnownTallies {
  #older = new Map<string, KnownTally>();
  #recent = new Map<string, KnownTally>();
  /** The database's time at 0 of the monotonic clock; undefined = not known yet. */
  #databaseOffsetMs: number | undefined;
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * Remembers the tallies of these scopes. Those that the database does not have are empty. `more`: what was reserved
   * right after they were read.
   */
  note(scopes: ScopeIds, { tallies, atMs }: TalliesAt, more: Amount = NOTHING): void {
    const seenAtMs = this.#monotonicMs();
    this.#databaseOffsetMs = atMs - seenAtMs;
    for (const key of tallyKeysOf(scopes)) {
      const name = tallyName(key);
      const tally = tallies.get(name) ?? emptyTally(key);
      this.#set(name, { tally: { ...tally, reserved: plus(tally.reserved, more) }, seenAtMs });
    }
  }

  /** The last known tallies of these scopes, unknown ones as empty, and about what time the database has. */
  guess(scopes: ScopeIds): TalliesAt {
    const tallies = new Map<string, SqlTally>();
    for (const key of tallyKeysOf(scopes)) {
      const name = tallyName(key);
      tallies.set(name, this.#get(name)?.tally ?? emptyTally(key));
    }
    return { tallies, atMs: Math.floor(this.#monotonicMs() + (this.#databaseOffsetMs ?? 0)) };
  }

  /** Whether no limit applies to a payer, and none of its account's balance did a few minutes ago. */
  isUnlimited({ scopes, limits }: PayingScopes): boolean {
    if (hasLimits(limits)) return false;
    const account = this.#get(tallyName({ scope: 'account', id: scopes.account }));
    if (account === undefined || account.tally.balance.isEnforced) return false;
    return this.#monotonicMs() - account.seenAtMs < UNLIMITED_MS;
  }

  #get(name: string): KnownTally | undefined {
    return this.#recent.get(name) ?? this.#older.get(name);
  }

  #set(name: string, known: KnownTally): void {
    if (this.#recent.size >= HALF_TALLIES && !this.#recent.has(name)) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(name, known);
  }
}

function hasLimits({ key, member = [], workspace }: Limits): boolean {
  return key.length + member.length + workspace.length > 0;
}
