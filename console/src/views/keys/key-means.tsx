import type { ComponentChildren } from 'preact';
import type { BudgetObject, WorkspaceObject } from '../../api/contract.ts';
import { shortMoney } from '../../format/money.ts';
import { dateTime } from '../../format/times.ts';
import { nextReset, PER_WINDOW, WITHIN_WINDOW } from '../../format/windows.ts';
import { type ChangeableKeyValues, limitOf, momentOf } from './key-form.ts';

/** What the fields of a key mean for its requests, one sentence each. */
export function keyMeans(
  values: ChangeableKeyValues & { readonly expires_at?: string },
  workspace: WorkspaceObject | undefined,
  nowMs: number,
): ComponentChildren[] {
  const name = <b>{workspace?.name ?? 'its workspace'}</b>;
  return [
    <>It can call every model that the guardrails of {name} allow.</>,
    limitMeaning(values, nowMs),
    ...budgetMeaning(workspace?.budgets ?? []),
    <>Requests in flight are counted: limits hold however many race for them.</>,
    values.include_byok_in_limit ? (
      <>Requests that your own credentials pay for use up the limit too, at list price.</>
    ) : (
      <>Requests that your own credentials pay for do not use up the limit.</>
    ),
    ...expiryMeaning(values.expires_at ?? ''),
    <>Revoking it takes effect within a second. Open streams are finished and charged.</>,
    <>It cannot manage anything: no keys, no settings.</>,
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
      It spends at most <b>{shortMoney(limit)}</b> {WITHIN_WINDOW[values.limit_reset]}. Then requests get{' '}
      <b>402</b>
      {resetMs === null ? ' until you raise the limit.' : ` until ${dateTime(resetMs)} your time.`}
    </>
  );
}

function budgetMeaning(budgets: readonly BudgetObject[]): ComponentChildren[] {
  if (budgets.length === 0) return [];
  const all = budgets
    .map((budget) => {
      const per = PER_WINDOW[budget.reset_interval ?? 'lifetime'];
      return `${shortMoney(budget.left_usd)} left of ${shortMoney(budget.limit_usd)} ${per}`;
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
      From <b>{dateTime(expiresMs)}</b> your time on, requests with it get <b>401</b>.
    </>,
  ];
}
