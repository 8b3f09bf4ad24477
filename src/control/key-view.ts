import { usdOf } from '../kit/money.ts';
import type { KeyStatement } from '../manage/keys/key-statement.ts';
import type { Account } from '../ports/tenancy.ts';

/** A key as commands show it. Money is USD. */
export interface KeyView {
  readonly hash: string;
  readonly name: string;
  readonly label: string;
  readonly account: string;
  readonly account_id: string;
  readonly workspace_id: string;
  readonly is_management_key: boolean;
  readonly disabled: boolean;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly creator_user_id: string | null;
  /** Null = no limit. */
  readonly limit: number | null;
  readonly limit_remaining: number | null;
  readonly limit_reset: string | null;
  readonly include_byok_in_limit: boolean;
  readonly usage: number;
  readonly byok_usage: number;
}

/** A key that was just made; `key` is its secret and is shown nowhere else. */
export interface IssuedKeyView extends KeyView {
  readonly key: string;
}

/** A key with the name of its account. */
export function keyView(
  { key, spending, remainingNanos }: KeyStatement,
  accounts: readonly Account[],
): KeyView {
  return {
    hash: key.hash,
    name: key.name,
    label: key.label,
    account: accounts.find(({ id }) => id === key.accountId)?.name ?? key.accountId,
    account_id: key.accountId,
    workspace_id: key.workspaceId,
    is_management_key: key.isManagement,
    disabled: key.disabled,
    created_at: new Date(key.createdAtMs).toISOString(),
    expires_at: key.expiresAtMs === null ? null : new Date(key.expiresAtMs).toISOString(),
    creator_user_id: key.creatorUserId,
    limit: key.limitNanos === null ? null : usdOf(key.limitNanos),
    limit_remaining: remainingNanos === null ? null : usdOf(remainingNanos),
    limit_reset: key.limitReset,
    include_byok_in_limit: key.includeByokInLimit,
    usage: usdOf(spending.credit.lifetime),
    byok_usage: usdOf(spending.byok.lifetime),
  };
}
