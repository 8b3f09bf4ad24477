import type { Limits, ScopeIds } from './ledger.ts';
import type { Key, Workspace } from './tenancy.ts';

/** Whoever is behind a request, once authenticated. */
export interface Caller {
  readonly key: Key;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly workspace: Workspace;
  /** What the key and its workspace may spend. */
  readonly limits: Limits;
  /** Who pays. */
  readonly scopes: ScopeIds;
}
