import type { Nanos } from '../kit/money.ts';
import { type Classifier, classifierKey, classifierTitle } from '../ports/following/classifiers.ts';
import { memberScopeId } from '../ports/money/ledger.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import type { Key } from '../ports/tenancy/tenancy.ts';

/** A run that counts what it spends, in the place of a member. */
export interface RunScope {
  readonly id: string;
  /** The most that it may spend; null = no limit of its own. */
  readonly budgetNanos: Nanos | null;
}

/** The id under which the ledger counts what a run has spent. */
export function runScopeId(accountId: string, runId: string): string {
  return memberScopeId(accountId, `classifier-run/${runId}`);
}

/** What stands in the place of a key in a classifier's own generations: its limit is the monthly budget. */
export function keyOfClassifier(classifier: Classifier): Key {
  return {
    hash: classifierKey(classifier.id),
    accountId: classifier.accountId,
    workspaceId: classifier.workspaceId,
    name: classifierTitle(classifier.name),
    label: 'classifier',
    isManagement: false,
    disabled: false,
    createdAtMs: classifier.createdAtMs,
    updatedAtMs: classifier.updatedAtMs,
    expiresAtMs: null,
    creatorUserId: null,
    externalUser: null,
    limitNanos: classifier.monthlyBudgetNanos,
    limitReset: 'monthly',
    includeByokInLimit: true,
    allowedModels: null,
    requestsPerMinute: null,
    tokensPerMinute: null,
    fileMember: null,
  };
}

/**
 * The caller in whose name a classifier asks. Nothing of its own requests is kept or followed: the transcript is of a
 * conversation that is kept elsewhere or not at all.
 */
export function callerOfClassifier(
  { workspace, limits, scopes, ...caller }: Caller,
  guardrails: Caller['guardrails'] | undefined,
  run: RunScope | undefined,
): Caller {
  const member = run && runScopeId(caller.accountId, run.id);
  const budgetNanos = run?.budgetNanos ?? null;
  return {
    ...caller,
    guardrails: guardrails ?? caller.guardrails,
    workspace: { ...workspace, isObservabilityIoLoggingEnabled: false, hasContentReaders: false },
    scopes: member === undefined ? scopes : { ...scopes, member },
    limits:
      budgetNanos === null
        ? limits
        : { ...limits, member: [{ window: 'lifetime', nanos: budgetNanos, countsByok: true }] },
  };
}
