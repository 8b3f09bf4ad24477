import type { ComponentChildren } from 'preact';
import { Link } from '../../address/link.tsx';
import type { BudgetObject, WorkspaceObject } from '../../api/contract.ts';
import { limitColumn, shortMoney } from '../../format/money.ts';
import { counted } from '../../format/numbers.ts';
import { datedTime, dateTime } from '../../format/times.ts';
import { nextReset, PER_WINDOW, WITHIN_WINDOW } from '../../format/windows.ts';
import { type ChangeableKeyValues, limitOf, momentOf, parseCount } from './key-form.ts';

/** What the fields of a key mean for its requests, one sentence each. */
export function keyMeans(
  values: ChangeableKeyValues,
  workspace: WorkspaceObject | undefined,
  nowMs: number,
): ComponentChildren[] {
  return [
    modelMeaning(values, workspace),
    ...minuteMeaning(values),
    limitMeaning(values, nowMs),
    ...budgetMeaning(workspace?.budgets ?? []),
    <>Requests in flight are counted: limits hold however many race for them.</>,
    values.include_byok_in_limit ? (
      <>Requests that your own provider keys pay for use up the limit too, at list price.</>
    ) : (
      <>Requests that your own provider keys pay for do not use up the limit.</>
    ),
    ...expiryMeaning(values.expires_at),
    <>Revoking it takes effect within a second. Open streams are finished and charged.</>,
    <>It cannot manage anything: no keys, no settings.</>,
  ];
}

function modelMeaning(
  { allowed_models: models }: ChangeableKeyValues,
  workspace: WorkspaceObject | undefined,
): ComponentChildren {
  const guardrails = workspace && (
    <Link href={`/guardrails?workspace=${workspace.id}`}>guardrails of {workspace.name}</Link>
  );
  const rules = guardrails ?? 'guardrails of its workspace';
  if (models.length === 0) return <>It can call every model that the {rules} allow.</>;
  return (
    <>
      It can call <b>{models.length === 1 ? models[0] : `${models.length} models`}</b> alone, as far as the{' '}
      {rules} allow; others get <b>403</b>, and of a list of models they are skipped.
    </>
  );
}

function minuteMeaning(values: ChangeableKeyValues): ComponentChildren[] {
  const requests = parseCount(values.requests_per_minute) ?? null;
  const tokens = parseCount(values.tokens_per_minute) ?? null;
  const limits = [
    ...(requests === null ? [] : [counted(requests, 'request')]),
    ...(tokens === null ? [] : [counted(tokens, 'token')]),
  ];
  if (limits.length === 0) return [];
  return [
    <>
      In a minute it gets <b>{limits.join(' and ')}</b>, whatever all keys get; then requests get <b>429</b>.
    </>,
  ];
}

function limitMeaning(values: ChangeableKeyValues, nowMs: number): ComponentChildren {
  const limit = limitOf(values);
  if (limit === null) {
    return <>It has no limit of its own: budgets of its workspace and the balance of the account stop it.</>;
  }
  const resetMs = nextReset(values.limit_reset, nowMs);
  return (
    <>
      It spends at most <b>{limitColumn([limit])(limit)}</b> {WITHIN_WINDOW[values.limit_reset]}. Then
      requests get <b>402</b>
      {resetMs === null ? ' until you raise the limit.' : ` until ${dateTime(resetMs)} your time.`}
    </>
  );
}

function budgetMeaning(budgets: readonly BudgetObject[]): ComponentChildren[] {
  if (budgets.length === 0) return [];
  const all = budgets
    .map((budget) => {
      const per = PER_WINDOW[budget.reset_interval ?? 'lifetime'];
      return `${shortMoney(budget.left_usd)} left of ${limitColumn([budget.limit_usd])(budget.limit_usd)} ${per}`;
    })
    .join(', ');
  return [
    <>
      The workspace’s budgets hold too: {all}. Whichever is used up first stops the key; a budget answers{' '}
      <b>403</b>.
    </>,
  ];
}

function expiryMeaning(expires: string): ComponentChildren[] {
  const expiresMs = momentOf(expires);
  if (expiresMs === null || Number.isNaN(expiresMs)) return [];
  return [
    <>
      From <b>{datedTime(expiresMs)}</b> your time on, requests with it get <b>401</b>.
    </>,
  ];
}
