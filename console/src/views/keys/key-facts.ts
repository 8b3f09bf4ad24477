import type { KeyObject, LoggedGenerationObject } from '../../api/contract.ts';
import { REFUSED_NOW_MS } from '../../api/refused.ts';
import { type LimitWindow, windowStart } from '../../format/windows.ts';
import { NEARLY_USED_UP, shareSpent } from '../../parts/budget-bar.tsx';

/** Whether a key opens anything, and if not, why. */
export type KeyState = 'active' | 'used-up' | 'expired' | 'disabled';

/** The states as groups that the list can be narrowed to. */
export const STATE_GROUPS = {
  active: ['active'],
  stopped: ['used-up', 'expired'],
  disabled: ['disabled'],
} as const satisfies Record<string, readonly KeyState[]>;

export type StateGroup = keyof typeof STATE_GROUPS;

export function isStateGroup(text: string | null): text is StateGroup {
  return text !== null && text in STATE_GROUPS;
}

/** The part of a key that its state is read from. */
export type SpendingKey = Pick<
  KeyObject,
  | 'limit'
  | 'limit_reset'
  | 'include_byok_in_limit'
  | `${'' | 'byok_'}usage${'' | '_daily' | '_weekly' | '_monthly'}`
>;

/** The window that the limit of a key counts over. */
export function windowOf({ limit_reset: reset }: Pick<KeyObject, 'limit_reset'>): LimitWindow {
  return reset ?? 'lifetime';
}

const MEMBERS = {
  daily: ['usage_daily', 'byok_usage_daily'],
  weekly: ['usage_weekly', 'byok_usage_weekly'],
  monthly: ['usage_monthly', 'byok_usage_monthly'],
  lifetime: ['usage', 'byok_usage'],
} as const;

/** What a key has spent in a window, USD; with own provider keys where these count towards its limit. */
export function spentIn(key: SpendingKey, window: LimitWindow): number {
  const [credit, byok] = MEMBERS[window];
  return key[credit] + (key.include_byok_in_limit ? key[byok] : 0);
}

/** What counts towards the limit of a key, in the window of the limit. */
export function spentOfLimit(key: SpendingKey): number {
  return spentIn(key, windowOf(key));
}

/** How much of the limit is spent; null = there is no limit. */
export function shareOfLimit(key: SpendingKey): number | null {
  return key.limit === null ? null : shareSpent(spentOfLimit(key), key.limit);
}

export function stateOf(
  key: SpendingKey & Pick<KeyObject, 'disabled' | 'expires_at'>,
  nowMs: number,
): KeyState {
  if (key.disabled) return 'disabled';
  if (key.expires_at !== null && Date.parse(key.expires_at) <= nowMs) return 'expired';
  return (shareOfLimit(key) ?? 0) >= 1 ? 'used-up' : 'active';
}

/** Whether the limit is nearly used up, and the key still serves. */
export function isNearlyUsedUp(key: SpendingKey): boolean {
  const share = shareOfLimit(key);
  return share !== null && share >= NEARLY_USED_UP && share < 1;
}

/** What a limit that does not pay for a request is answered with. */
const PAYMENT_REQUIRED = 402;

/** Hashes of the keys whose limit refused requests of late, and was neither changed nor reset since. */
export function refusingKeys(
  keys: readonly Pick<KeyObject, 'hash' | 'limit' | 'limit_reset' | 'updated_at'>[],
  refused: readonly Pick<LoggedGenerationObject, 'key_hash' | 'error_status' | 'created_at'>[],
  nowMs: number,
): ReadonlySet<string> {
  const lastMs = new Map<string, number>();
  for (const { key_hash: hash, error_status: status, created_at: at } of refused) {
    if (hash === null || status !== PAYMENT_REQUIRED) continue;
    lastMs.set(hash, Math.max(lastMs.get(hash) ?? 0, Date.parse(at)));
  }
  return new Set(
    keys
      .filter(({ hash, limit, limit_reset: reset, updated_at: updated }) => {
        const atMs = lastMs.get(hash);
        if (atMs === undefined || limit === null) return false;
        const sinceMs = Math.max(
          nowMs - REFUSED_NOW_MS,
          updated === null ? 0 : Date.parse(updated),
          windowStart(windowOf({ limit_reset: reset }), nowMs),
        );
        return atMs >= sinceMs;
      })
      .map(({ hash }) => hash),
  );
}
