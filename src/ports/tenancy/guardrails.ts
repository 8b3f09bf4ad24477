/** Guardrails: what the requests and answers of keys, members, workspaces or a whole account must comply with. */

import type { Nanos } from '../../kit/money.ts';
import type { ResetWindow } from '../../kit/time/windows.ts';
import type { FileMember, Page } from './tenancy.ts';

/** Actions of a filter that matches, from the strictest to the mildest: the strictest of several wins. */
export const FILTER_ACTIONS = ['block', 'redact', 'flag'] as const;

/** `flag`: the match is reported, and the text passes unchanged. */
export type FilterAction = (typeof FILTER_ACTIONS)[number];

export const BUILTIN_SLUGS = [
  'email',
  'phone',
  'ssn',
  'credit-card',
  'ip-address',
  'person-name',
  'address',
  'regex-prompt-injection',
] as const;

export type BuiltinSlug = (typeof BUILTIN_SLUGS)[number];

export const SCAN_SCOPES = ['user_only', 'all_messages'] as const;

/** The messages that `regex-prompt-injection` reads. */
export type ScanScope = (typeof SCAN_SCOPES)[number];

/** A filter that the gateway brings along. */
export interface BuiltinFilter {
  readonly slug: BuiltinSlug;
  readonly action: FilterAction;
  /** `all_messages` for every other filter than `regex-prompt-injection`. */
  readonly scanScope: ScanScope;
}

/** A filter by a regular expression of the operator's own. */
export interface CustomFilter {
  readonly pattern: string;
  readonly action: FilterAction;
  /** Names the match in messages, and replaces it when redacted; null = it has no name. */
  readonly label: string | null;
}

/** The most that all tries of a guardrail's own service may take together, in milliseconds. */
export const MAX_SERVICE_TIMEOUT_MS = 60_000;

/** An HTTP service of the operator's own that judges texts. */
export interface OwnService {
  readonly url: string;
  /** Limit of all tries together. */
  readonly timeoutMs: number;
  /** Further tries after the first one failed. */
  readonly retries: number;
  /** Fate of a request while the service gives no verdict: `closed` = refused, `open` = passed. */
  readonly onFailure: 'closed' | 'open';
  /** Characters of an answer that it judges at a time; null = the whole answer at once. */
  readonly windowCharacters: number | null;
}

export const DATA_REGIONS = ['global', 'europe', 'us'] as const;

export type DataRegion = (typeof DATA_REGIONS)[number];

/** Families of models, by the provider that makes them. */
export const ZDR_FAMILIES = ['anthropic', 'openai', 'google', 'xai', 'other'] as const;

export type ZdrFamily = (typeof ZDR_FAMILIES)[number];

export interface GuardrailSettings {
  readonly name: string;
  readonly description: string | null;
  /** Where it is listed; says nothing about where it applies. */
  readonly workspaceId: string;
  /** Most that each key and each member under it may spend; null = unlimited. */
  readonly limitNanos: Nanos | null;
  /** Null = the limit never resets. */
  readonly resetInterval: ResetWindow | null;
  /** Usage on BYOK credentials counts towards the limit too. */
  readonly includeByokInBudgets: boolean;
  /** Slugs of providers; null = all. */
  readonly allowedProviders: readonly string[] | null;
  readonly ignoredProviders: readonly string[] | null;
  /** Canonical slugs of models; null = all. */
  readonly allowedModels: readonly string[] | null;
  readonly ignoredModels: readonly string[] | null;
  /** Whether a family's models are served by endpoints with zero data retention only; null = not said. */
  readonly enforceZdr: Readonly<Record<ZdrFamily, boolean | null>>;
  /** Whether endpoints that train on prompts may serve; null = not said. */
  readonly enablePaidModelTraining: boolean | null;
  readonly enableFreeModelTraining: boolean | null;
  /** Whether free endpoints that publish prompts may serve; null = not said. */
  readonly enableFreeModelPublication: boolean | null;
  /** Null = all. */
  readonly allowedDataRegions: readonly DataRegion[] | null;
  readonly builtins: readonly BuiltinFilter[] | null;
  readonly filters: readonly CustomFilter[] | null;
  readonly service: OwnService | null;
}

export interface Guardrail extends GuardrailSettings {
  readonly id: string;
  readonly accountId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number | null;
  readonly fileMember: FileMember;
}

/** Kinds of assignments by which a guardrail applies to a caller. */
export type GuardrailScope = 'account' | 'workspace' | 'member' | 'api-key';

export interface AppliedGuardrail {
  readonly guardrail: Guardrail;
  readonly scope: GuardrailScope;
}

/** The list of callers without guardrails, shared. */
export const NO_GUARDRAILS: readonly AppliedGuardrail[] = [];

export type AssignmentKind = 'key' | 'member';

/** A key or a member has at most one. */
export interface GuardrailAssignment {
  readonly id: string;
  readonly guardrailId: string;
  readonly accountId: string;
  readonly kind: AssignmentKind;
  /** The hash of a key, or the id of a member. */
  readonly subject: string;
  /** The member whose management key assigned it; null = unknown. */
  readonly assignedBy: string | null;
  readonly createdAtMs: number;
  readonly fileMember: FileMember;
}

/** Which assignments are listed; an absent member = all. */
export interface AssignmentFilter {
  readonly accountId: string;
  readonly kind: AssignmentKind;
  readonly guardrailId?: string | undefined;
  readonly subject?: string | undefined;
}

export type GuardrailEdit = Partial<GuardrailSettings & Pick<Guardrail, 'fileMember'>>;

/** Numbers of keys and members that a guardrail is assigned to. */
export type AssignedCounts = Readonly<Record<AssignmentKind, number>>;

export interface GuardrailStore {
  /** Stores a guardrail unless its id is known. Resolves with the stored one. */
  insert(guardrail: Guardrail): Promise<Guardrail>;
  find(accountId: string, id: string): Promise<Guardrail | undefined>;
  /** Guardrails of a workspace (null = of the whole account), oldest first; `total` counts all. */
  list(
    place: { readonly accountId: string; readonly workspaceId: string | null },
    page: Page,
  ): Promise<{ readonly guardrails: Guardrail[]; readonly total: number }>;
  /** All of an account, oldest first. */
  listAll(accountId: string): Promise<Guardrail[]>;
  /** Undefined when there is none. If `decide` throws, nothing changes. */
  update(
    accountId: string,
    id: string,
    decide: (current: Guardrail) => GuardrailEdit,
    atMs: number,
  ): Promise<Guardrail | undefined>;
  /** Deletes a guardrail with its assignments. False when there is none. */
  delete(accountId: string, id: string): Promise<boolean>;
  /**
   * Stores assignments, each in place of an earlier one of the same key or member. Resolves with those of other
   * guardrails that were replaced.
   */
  assign(assignments: readonly GuardrailAssignment[]): Promise<readonly GuardrailAssignment[]>;
  /** Removes those of `subjects` that are assigned to the guardrail. Resolves with their number. */
  unassign(guardrailId: string, kind: AssignmentKind, subjects: readonly string[]): Promise<number>;
  /** Assignments of an account, or of one guardrail or subject, oldest first; `total` counts all. */
  listAssignments(
    filter: AssignmentFilter,
    page: Page,
  ): Promise<{ readonly assignments: GuardrailAssignment[]; readonly total: number }>;
  /** How many keys and members each guardrail of an account is assigned to; those assigned to none are absent. */
  countAssignments(accountId: string): Promise<ReadonlyMap<string, AssignedCounts>>;
  /** The assignments of a key and of a member; `member` null = of the key alone. */
  assignmentsOf(
    accountId: string,
    subjects: { readonly key: string; readonly member: string | null },
  ): Promise<GuardrailAssignment[]>;
}
