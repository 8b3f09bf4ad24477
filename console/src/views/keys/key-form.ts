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
  /** Ids; empty = all models. */
  readonly allowed_models: readonly string[];
  /** Empty = as for all keys. */
  readonly requests_per_minute: string;
  readonly tokens_per_minute: string;
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
    allowed_models: [],
    requests_per_minute: '',
    tokens_per_minute: '',
  };
}

/** The fields of a key that can be changed later. */
export type ChangeableKeyValues = Omit<KeyValues, 'workspace_id'>;

export function changeableValues(key: KeyObject): ChangeableKeyValues {
  return {
    name: key.name,
    limit: typedMoney(key.limit),
    limit_reset: key.limit_reset ?? 'lifetime',
    include_byok_in_limit: key.include_byok_in_limit,
    expires_at: typedMoment(key.expires_at),
    allowed_models: key.allowed_models ?? [],
    requests_per_minute: typedCount(key.requests_per_minute),
    tokens_per_minute: typedCount(key.tokens_per_minute),
  };
}

/** What is wrong with the fields. `key`: as it is, unless it is a new one. */
export function keyProblems(
  values: ChangeableKeyValues,
  nowMs: number,
  key?: Pick<KeyObject, 'expires_at'>,
): Problems<KeyValues> {
  const expiresMs = momentOf(values.expires_at);
  const isKept = key !== undefined && values.expires_at === typedMoment(key.expires_at);
  return {
    ...(values.name.trim() === '' && { name: 'Give it a name: the log and analytics show it.' }),
    ...(values.limit.trim() !== '' &&
      parseMoney(values.limit) === undefined && {
        limit: 'An amount in dollars, such as 25 or 2,500.00. Leave it empty for no limit.',
      }),
    ...(parseCount(values.requests_per_minute) === undefined && { requests_per_minute: WRONG_COUNT }),
    ...(parseCount(values.tokens_per_minute) === undefined && { tokens_per_minute: WRONG_COUNT }),
    ...(!isKept &&
      expiresMs !== null &&
      !(expiresMs > nowMs) && {
        expires_at: 'That is over. Choose a later time, or leave it empty: the key then never expires.',
      }),
  };
}

const WRONG_COUNT = 'A whole number, such as 60 or 40,000. Leave it empty for the limit of all keys.';

const COUNT = /^(?:\d{1,3}(?:,\d{3})+|\d{1,12})$/;

/** A whole number as people type it; null = none, undefined = no number. */
export function parseCount(text: string): number | null | undefined {
  const digits = text.trim();
  if (digits === '') return null;
  return COUNT.test(digits) ? Number(digits.replaceAll(',', '')) || null : undefined;
}

function typedCount(value: number | null): string {
  return value === null ? '' : value.toLocaleString('en-GB');
}

/** The limit that is typed; null = none, or none yet. */
export function limitOf({ limit }: Pick<KeyValues, 'limit'>): number | null {
  return parseMoney(limit) ?? null;
}

/** When the key expires, epoch milliseconds; null = never. */
export function momentOf(local: string): number | null {
  return local === '' ? null : Date.parse(local);
}

/** A moment for a date field, in the reader's zone and to the minute. */
function typedMoment(iso: string | null): string {
  if (iso === null) return '';
  const ms = Date.parse(iso);
  const zoneMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - zoneMs).toISOString().slice(0, 16);
}

/** What the request says of the expiry: nothing while a date is being typed. */
function expiryMember(expires: string) {
  const expiresMs = momentOf(expires);
  if (Number.isNaN(expiresMs)) return {};
  return { expires_at: expiresMs === null ? null : new Date(expiresMs).toISOString() };
}

/** The members of a request that create and change have in common. */
function sharedMembers(values: ChangeableKeyValues) {
  const limit = limitOf(values);
  return {
    name: values.name.trim(),
    limit,
    limit_reset: limit === null || values.limit_reset === 'lifetime' ? null : values.limit_reset,
    include_byok_in_limit: values.include_byok_in_limit,
    allowed_models: values.allowed_models.length === 0 ? null : [...values.allowed_models],
    requests_per_minute: parseCount(values.requests_per_minute) ?? null,
    tokens_per_minute: parseCount(values.tokens_per_minute) ?? null,
  };
}

/** Members of the request for a new key that are shown without a value too. */
const SHOWN_NULLS: ReadonlySet<string> = new Set(['limit', 'limit_reset']);

/** The body of `POST /keys`. */
export function createBody(values: KeyValues): CreateKey {
  const members = { ...sharedMembers(values), ...expiryMember(values.expires_at) };
  const given = Object.entries(members).filter(([name, value]) => value !== null || SHOWN_NULLS.has(name));
  return { ...(Object.fromEntries(given) as typeof members), workspace_id: values.workspace_id };
}

/** The body of `PATCH /keys/{hash}`: what differs from the key. */
export function updateBody(values: ChangeableKeyValues, key: KeyObject): UpdateKey {
  const isExpiryKept = values.expires_at === typedMoment(key.expires_at);
  const wanted = { ...sharedMembers(values), ...(isExpiryKept ? {} : expiryMember(values.expires_at)) };
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => JSON.stringify(key[name as keyof KeyObject] ?? null) !== JSON.stringify(value),
    ),
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
