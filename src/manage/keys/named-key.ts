import type { CreateKey, UpdateKey } from '../../contract/keys/key.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Account, Key, Tenancy, Workspace } from '../../ports/tenancy/tenancy.ts';

/*
 * Keys and their workspaces, as the operator names them.
 */

/** A key that the operator makes. */
export interface NewKeyOptions
  extends Readonly<Omit<CreateKey, 'workspace_id' | 'creator_user_id' | 'external'>> {
  /** Name of the account; default: the first one. */
  readonly account?: string | undefined;
  /** Slug of the workspace; default: the account's default one. */
  readonly workspace?: string | undefined;
  readonly isManagement?: boolean | undefined;
  readonly creatorUserId?: string | null;
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

/** What a management key may have too. */
const OF_ALL_KEYS: ReadonlySet<string> = new Set(['name', 'disabled', 'expires_at']);

/** Throws for settings that have no effect on a management key. */
export function refuseLimits(wanted: UpdateKey): void {
  const [limit] =
    Object.entries(wanted).find(([name, value]) => value !== undefined && !OF_ALL_KEYS.has(name)) ?? [];
  if (limit === undefined) return;
  throw new GatewayError('invalid-request', `${limit}: a management key spends nothing; leave it out`);
}

/** Throws for settings of a limit without one. */
export function requireLimit({
  limit,
  limit_reset: reset,
  include_byok_in_limit: countsByok,
}: UpdateKey): void {
  if (typeof limit === 'number' || (!reset && countsByok !== true)) return;
  throw new GatewayError('invalid-request', 'limit: is missing; the reset and BYOK settings need it');
}
