import { GatewayError } from '../../ir/errors.ts';
import { MAX_USD, type Nanos, parseUsd } from '../../kit/money.ts';
import type { ResetWindow } from '../../kit/time/windows.ts';
import type { Account, Key, Tenancy, Workspace } from '../../ports/tenancy.ts';

/*
 * Keys, their workspaces and limits, as the operator names them.
 */

/** Options of `keys create`. */
export interface NewKeyOptions {
  readonly name: string;
  /** Name of the account; default: the first one. */
  readonly account?: string | undefined;
  /** Slug of the workspace; default: the account's default one. */
  readonly workspace?: string | undefined;
  readonly isManagement?: boolean | undefined;
  /** Spending limit in USD, as typed. */
  readonly limit?: string | undefined;
  readonly limitReset?: ResetWindow | undefined;
  readonly includeByokInLimit?: boolean | undefined;
  readonly expiresAtMs?: number | null | undefined;
}

/** Least hex digits of a hash prefix. */
const MIN_PREFIX_DIGITS = 8;

/** Keys read for one prefix: enough to see that it is ambiguous within any account. */
const MAX_PREFIX_MATCHES = 100;

/** The key whose hash begins so, of an account or of all. */
export async function keyByHash(
  tenancy: Pick<Tenancy, 'findKeysByHashPrefix'>,
  prefix: string,
  ofAccount: string | undefined,
): Promise<Key> {
  if (!/^[0-9a-f]{1,64}$/.test(prefix) || prefix.length < MIN_PREFIX_DIGITS) {
    throw new GatewayError(
      'invalid-request',
      `hash: must be a key's hash or its first ${MIN_PREFIX_DIGITS} or more hex digits, as the list shows it`,
    );
  }
  const found = await tenancy.findKeysByHashPrefix(prefix, MAX_PREFIX_MATCHES);
  const [key, other] = found.filter(({ accountId }) => ofAccount === undefined || accountId === ofAccount);
  if (key === undefined) throw new GatewayError('not-found', `hash: no key's hash begins with ${prefix}`);
  if (other !== undefined) {
    throw new GatewayError(
      'conflict',
      `hash: more than one key's hash begins with ${prefix}; give more of it`,
    );
  }
  return key;
}

/** A workspace of an account by its slug; the default one by default. */
export async function namedWorkspace(
  tenancy: Pick<Tenancy, 'defaultWorkspaceOf' | 'findWorkspace'>,
  account: Account,
  slug: string | undefined,
): Promise<Workspace> {
  const workspace =
    slug === undefined
      ? await tenancy.defaultWorkspaceOf(account.id)
      : await tenancy.findWorkspace(account.id, slug);
  if (workspace !== undefined) return workspace;
  throw new GatewayError('not-found', `workspace: ${account.name} has no workspace ${slug ?? 'by default'}`);
}

/** The limit of a new key; null = none. */
export function limitOf({
  limit,
  limitReset,
  includeByokInLimit,
  isManagement,
}: NewKeyOptions): Nanos | null {
  if (limit === undefined) {
    if (limitReset === undefined && includeByokInLimit !== true) return null;
    throw new GatewayError('invalid-request', 'limit: is missing; the reset and BYOK settings need it');
  }
  if (isManagement === true) throw spendsNothing();
  const nanos = parseUsd(limit);
  if (nanos !== undefined) return nanos;
  throw new GatewayError(
    'invalid-request',
    `limit: must be an amount in USD from 0 to ${MAX_USD}, such as 12.5`,
  );
}

/** The refusal of a limit for a management key. */
export function spendsNothing(): GatewayError {
  return new GatewayError('invalid-request', 'limit: a management key spends nothing; leave it out');
}
