import type { Limits, ScopeIds } from '../money/ledger.ts';
import type { AppliedGuardrail } from './guardrails.ts';
import type { Key, Workspace } from './tenancy.ts';

/** The account, workspace and key behind an authenticated request. */
export interface Caller {
  readonly key: Key;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly workspace: Workspace;
  readonly limits: Limits;
  /** The scopes that pay. */
  readonly scopes: ScopeIds;
  /** The widest scope first; `NO_GUARDRAILS` for most callers. */
  readonly guardrails: readonly AppliedGuardrail[];
}
