import type { BudgetObject, CreateKey, KeyObject, UpdateKey } from '../../api/contract.ts';
import { shortMoney } from '../../format/money.ts';
import { parseMoney, typedMoney } from '../../format/money-input.ts';
import { LIMIT_WINDOWS, type LimitWindow, PER_WINDOW } from '../../format/windows.ts';
import type { Problems } from '../../parts/form/use-form.ts';

/** The fields of a key, as text while they are typed. Their names are those of the interface. */
export interface KeyValues {
  readonly name: string;
  readonly workspace_id: string;
  /** Empty = no limit. */
  readonly limit: string;
  readonly limit_reset: LimitWindow;
  /** In the reader's zone, as a date field has it; empty = never. */
  readonly expires_at: string;
  readonly include_byok_in_limit: boolean;
}

/** The fields of a new key. */
export function newKeyValues(workspaceId: string): KeyValues {
  return {
    name: '',
    workspace_id: workspaceId,
    limit: '',
    limit_reset: 'monthly',
    expires_at: '',
    include_byok_in_limit: false,
  };
}

/** The fields of a key that can be changed later. */
export type ChangeableKeyValues = Omit<KeyValues, 'workspace_id' | 'expires_at'>;

export function changeableValues(key: KeyObject): ChangeableKeyValues {
  return {
    name: key.name,
    limit: typedMoney(key.limit),
    limit_reset: key.limit_reset ?? 'lifetime',
    include_byok_in_limit: key.include_byok_in_limit,
  };
}

/** What is wrong with the fields. */
export function keyProblems(
  values: ChangeableKeyValues & Partial<Pick<KeyValues, 'expires_at'>>,
  nowMs: number,
): Problems<KeyValues> {
  const expiresMs = momentOf(values.expires_at ?? '');
  return {
    ...(values.name.trim() === '' && { name: 'Give it a name: the log and analytics show it.' }),
    ...(values.limit.trim() !== '' &&
      parseMoney(values.limit) === undefined && {
        limit: 'An amount in dollars, such as 25 or 2,500.00. Leave it empty for no limit.',
      }),
    ...(expiresMs !== null &&
      !(expiresMs > nowMs) && {
        expires_at: 'That is over. Choose a later time, or leave it empty: the key then never expires.',
      }),
  };
}

/** The limit that is typed; null = none, or none yet. */
export function limitOf({ limit }: Pick<KeyValues, 'limit'>): number | null {
  return parseMoney(limit) ?? null;
}

/** When the key expires, epoch milliseconds; null = never. */
export function momentOf(local: string): number | null {
  return local === '' ? null : Date.parse(local);
}

/** The members of a request that create and change have in common. */
function sharedMembers(values: ChangeableKeyValues) {
  const limit = limitOf(values);
  return {
    name: values.name.trim(),
    limit,
    limit_reset: limit === null || values.limit_reset === 'lifetime' ? null : values.limit_reset,
    include_byok_in_limit: values.include_byok_in_limit,
  };
}

/** The body of `POST /keys`. */
export function createBody(values: KeyValues): CreateKey {
  const expiresMs = momentOf(values.expires_at);
  const isMoment = expiresMs !== null && !Number.isNaN(expiresMs);
  return {
    ...sharedMembers(values),
    workspace_id: values.workspace_id,
    ...(isMoment && { expires_at: new Date(expiresMs).toISOString() }),
  };
}

/** The body of `PATCH /keys/{hash}`: what differs from the key. */
export function updateBody(values: ChangeableKeyValues, key: KeyObject): UpdateKey {
  const wanted = sharedMembers(values);
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => key[name as keyof typeof wanted] !== value),
  );
}

/** A budget of the workspace that stops the key before its limit does; undefined = none. */
export function earlierBudget(
  values: Pick<KeyValues, 'limit' | 'limit_reset'>,
  budgets: readonly Pick<BudgetObject, 'limit_usd' | 'reset_interval'>[],
): string | undefined {
  const limit = limitOf(values);
  if (limit === null) return undefined;
  const from = LIMIT_WINDOWS.indexOf(values.limit_reset);
  const stopping = budgets.find(({ limit_usd: budget, reset_interval: reset }) => {
    const window = reset ?? 'lifetime';
    return LIMIT_WINDOWS.indexOf(window) >= from && budget < limit;
  });
  if (stopping === undefined) return undefined;
  const per = PER_WINDOW[stopping.reset_interval ?? 'lifetime'];
  return `The workspace’s budget of ${shortMoney(stopping.limit_usd)} ${per} would stop this key first.`;
}
