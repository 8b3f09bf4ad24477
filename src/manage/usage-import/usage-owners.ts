import type { Issue } from '../../kit/json/validate.ts';
import type { UsageLine } from './usage-line.ts';

/** The keys and workspaces that lines may name, and the default owner. */
export interface UsageScopes {
  /** Owns lines that name neither key nor workspace. */
  readonly account: { readonly id: string; readonly workspaceId: string };
  readonly keys: readonly {
    readonly hash: string;
    readonly accountId: string;
    readonly workspaceId: string;
    /** The creator of the key. */
    readonly userId: string | null;
  }[];
  readonly workspaces: readonly { readonly id: string; readonly accountId: string }[];
}

export interface UsageOwner {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly keyHash: string | null;
  readonly userId: string | null;
}

export class UsageOwners {
  readonly #keys: ReadonlyMap<string, UsageOwner>;
  readonly #workspaces: ReadonlyMap<string, UsageOwner>;
  readonly #defaultOwner: UsageOwner;

  constructor({ account, keys, workspaces }: UsageScopes) {
    const withoutKey = (accountId: string, workspaceId: string): UsageOwner => ({
      accountId,
      workspaceId,
      keyHash: null,
      userId: null,
    });
    this.#keys = new Map(keys.map(({ hash, ...key }) => [hash, { ...key, keyHash: hash }]));
    this.#workspaces = new Map(workspaces.map(({ id, accountId }) => [id, withoutKey(accountId, id)]));
    this.#defaultOwner = withoutKey(account.id, account.workspaceId);
  }

  of({ api_key_hash: hash, workspace_id: workspaceId }: UsageLine): UsageOwner | Issue {
    const ofWorkspace = named(this.#workspaces, workspaceId);
    if (workspaceId && ofWorkspace === undefined) return NO_WORKSPACE;
    const ofKey = named(this.#keys, hash);
    if (hash && ofKey === undefined) return NO_KEY;
    if (ofKey && ofWorkspace && ofKey.workspaceId !== ofWorkspace.workspaceId) return ANOTHER_WORKSPACE;
    return ofKey ?? ofWorkspace ?? this.#defaultOwner;
  }
}

const NO_KEY: Issue = {
  path: 'api_key_hash',
  message: 'no key has this hash; leave it out for a key that is gone',
};
const NO_WORKSPACE: Issue = { path: 'workspace_id', message: 'no workspace has this id' };
const ANOTHER_WORKSPACE: Issue = { path: 'workspace_id', message: 'is not the workspace of the key' };

function named(
  owners: ReadonlyMap<string, UsageOwner>,
  id: string | null | undefined,
): UsageOwner | undefined {
  return id ? owners.get(id) : undefined;
}
