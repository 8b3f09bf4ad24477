import { isInTime } from '../../kit/loop/is-in-time.ts';
import type { Nanos } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { LimitWindow } from '../../kit/time/windows.ts';
import type { Ledger, Limit, Spending } from '../../ports/money/ledger.ts';
import type { Key, NamedBudget, Tenancy } from '../../ports/tenancy/tenancy.ts';
import { remainingNanos } from '../spent-of-limit.ts';
import { keyLimitOf } from './limits.ts';

/** Balances, and budgets, that are shown. More series would burden a collector. */
const MAX_SHOWN = 100;

/** Budgets, and keys with a limit, that are looked at, oldest first. */
const MAX_READ = 10_000;

/** How long figures are reused: each reading asks the database. */
const FRESH_MS = 10_000;

/** How long a reader waits for new figures, milliseconds; then it gets the last ones. */
const PATIENCE_MS = 500;

export interface BalanceFigure {
  /** Name of the account. */
  readonly account: string;
  readonly leftNanos: Nanos;
}

export interface BudgetFigure extends BalanceFigure {
  /** Slug of the workspace. */
  readonly workspace: string;
  readonly window: LimitWindow;
  readonly limitNanos: Nanos;
}

export interface KeyFigure extends BalanceFigure {
  /** Its name, which need not be unique. */
  readonly key: string;
  /** The first digits of its hash. */
  readonly hash: string;
  readonly window: LimitWindow;
  readonly limitNanos: Nanos;
}

export interface MoneyFigures {
  readonly balances: readonly BalanceFigure[];
  readonly budgets: readonly BudgetFigure[];
  /** Empty unless they are asked for. */
  readonly keys: readonly KeyFigure[];
  /** When they were read, milliseconds of the monotonic clock; undefined = never. */
  readonly readAtMs: number | undefined;
}

const NEVER_READ: MoneyFigures = { balances: [], budgets: [], keys: [], readAtMs: undefined };

export interface MoneyLeftDependencies {
  readonly ledger: Pick<Ledger, 'balancesLeft' | 'spendingOf'>;
  readonly tenancy: Pick<Tenancy, 'listAccounts' | 'listAllBudgets' | 'listLimitedKeys'>;
  /** Keys that are shown at most. */
  readonly shownKeys: () => number;
  readonly clock: Clock;
}

/**
 * Reads what is left of balances, budgets and limits of keys, for metrics. Keeps the last figures while the database is
 * away.
 */
export class MoneyLeft {
  readonly #dependencies: MoneyLeftDependencies;
  #latest = NEVER_READ;
  #reading: Promise<void> | undefined;

  constructor(dependencies: MoneyLeftDependencies) {
    this.#dependencies = dependencies;
  }

  get latest(): MoneyFigures {
    return this.#latest;
  }

  /**
   * Reads the figures again unless they are fresh. Never rejects, and never takes longer than PATIENCE_MS.
   */
  async refresh(): Promise<void> {
    const { readAtMs } = this.#latest;
    const nowMs = this.#dependencies.clock.monotonic();
    if (readAtMs !== undefined && nowMs - readAtMs < FRESH_MS) return;
    this.#reading ??= this.#read()
      // Without a database the last figures stay; their age says so.
      .catch(() => {})
      .finally(() => {
        this.#reading = undefined;
      });
    await isInTime(this.#reading, PATIENCE_MS);
  }

  async #read(): Promise<void> {
    const { ledger, tenancy, clock } = this.#dependencies;
    const names = new Map((await tenancy.listAccounts()).map(({ id, name }) => [id, name]));
    const nameOf = (id: string) => names.get(id) ?? id;
    const balances = await ledger.balancesLeft(MAX_SHOWN);
    const budgets = await this.#budgets();
    const keys = await this.#keys();
    this.#latest = {
      balances: balances.map(({ accountId, leftNanos }) => ({ account: nameOf(accountId), leftNanos })),
      budgets: budgets.map(({ of, limit, leftNanos }) => ({
        account: nameOf(of.accountId),
        workspace: of.slug,
        window: limit.window,
        limitNanos: limit.nanos,
        leftNanos,
      })),
      keys: keys.map(({ of, limit, leftNanos }) => ({
        account: nameOf(of.accountId),
        key: of.name,
        hash: of.hash.slice(0, HASH_DIGITS),
        window: limit.window,
        limitNanos: limit.nanos,
        leftNanos,
      })),
      readAtMs: clock.monotonic(),
    };
  }

  async #budgets(): Promise<readonly Left<NamedBudget>[]> {
    const limits = (await this.#dependencies.tenancy.listAllBudgets(MAX_READ)).map((of) => {
      const { workspaceId: id, window, limitNanos: nanos, includeByok: countsByok } = of;
      return { of, id, limit: { window, nanos, countsByok } };
    });
    return this.#leftOf('workspace', limits, MAX_SHOWN);
  }

  async #keys(): Promise<readonly Left<Key>[]> {
    const { tenancy, shownKeys } = this.#dependencies;
    const most = shownKeys();
    const keys = most === 0 ? [] : await tenancy.listLimitedKeys(MAX_READ);
    const limits = keys.flatMap((of) => {
      const limit = keyLimitOf(of);
      return limit === null ? [] : [{ of, id: of.hash, limit }];
    });
    return this.#leftOf('key', limits, most);
  }

  /** The limits with the smallest share left, smallest first. */
  async #leftOf<Of>(
    scope: 'workspace' | 'key',
    limits: readonly (Pick<Left<Of>, 'of' | 'limit'> & { readonly id: string })[],
    most: number,
  ): Promise<readonly Left<Of>[]> {
    const { ledger, clock } = this.#dependencies;
    const ids = [...new Set(limits.map(({ id }) => id))];
    const spending: readonly Spending[] =
      ids.length === 0 ? [] : await ledger.spendingOf(scope, ids, clock.now());
    const spentBy = new Map(ids.map((id, index) => [id, spending[index]]));
    return limits
      .flatMap(({ of, id, limit }) => {
        const spent = spentBy.get(id);
        return spent === undefined ? [] : [{ of, limit, leftNanos: remainingNanos(limit, spent) }];
      })
      .sort((one, other) => shareLeft(one) - shareLeft(other))
      .slice(0, most);
  }
}

/** Digits of a key's hash: enough to tell keys apart, and for commands. */
const HASH_DIGITS = 16;

/** A limit of a budget or key, and what is left of it. */
interface Left<Of> {
  readonly of: Of;
  readonly limit: Limit;
  readonly leftNanos: Nanos;
}

function shareLeft({ limit, leftNanos }: Pick<Left<unknown>, 'limit' | 'leftNanos'>): number {
  return limit.nanos === 0n ? 0 : Number(leftNanos) / Number(limit.nanos);
}
