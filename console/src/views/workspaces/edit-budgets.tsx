import { useQueryClient } from '@tanstack/preact-query';
import type { BudgetObject, WorkspaceObject } from '../../api/contract.ts';
import { ApiError, send } from '../../api/request.ts';
import { WORKSPACES_QUERY } from '../../api/workspaces.ts';
import { shortMoney } from '../../format/money.ts';
import { dateTime } from '../../format/times.ts';
import { LIMIT_WINDOWS, type LimitWindow, nextReset } from '../../format/windows.ts';
import { BudgetBar } from '../../parts/budget-bar.tsx';
import { exactUsd } from '../../parts/exact.ts';
import { CheckField, MoneyField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { toast } from '../../parts/toast.tsx';
import { useReserved } from '../../parts/use-reserved.ts';
import {
  type BudgetChange,
  type BudgetValues,
  budgetCall,
  budgetChanges,
  budgetProblems,
  budgetValues,
} from './budget-form.ts';

const TITLES: Readonly<Record<LimitWindow, string>> = {
  daily: 'A day',
  weekly: 'A week',
  monthly: 'A month',
  lifetime: 'Total',
};

interface Props {
  readonly workspace: WorkspaceObject;
  readonly onClose: () => void;
}

/** Budgets of a workspace, one a window, and how they act together with the limits of keys. */
export function EditBudgets({ workspace, onClose }: Props) {
  const queries = useQueryClient();
  const { id, name, budgets = [], include_byok_in_budgets: includeByok } = workspace;
  const isDeclared = budgets.some(({ managed_by: by }) => by === 'file');
  const apply = async (steps: readonly BudgetChange[], byok: boolean | undefined): Promise<void> => {
    for (const step of steps) await sendChange(id, step, byok);
    await queries.invalidateQueries({ queryKey: WORKSPACES_QUERY });
  };
  const form = useForm<BudgetValues>({
    initial: budgetValues(budgets, includeByok),
    check: budgetProblems,
    save: async (values) => {
      const steps = stepsOf(budgets, includeByok, values);
      if (steps.length > 0) {
        await apply(steps, byokOf(includeByok, values));
        toast(`The budgets of ${name} were changed.`);
      }
      onClose();
    },
  });
  const first = stepsOf(budgets, includeByok, form.values)[0];
  const hasBudget = LIMIT_WINDOWS.some((window) => form.values[window].trim() !== '');
  return (
    <FormDialog
      title={`Budgets of ${name}`}
      action="Save budgets"
      form={form}
      means={meansOf(form.values, name, isDeclared)}
      call={first === undefined ? null : budgetCall(id, first, byokOf(includeByok, form.values))}
      isReadOnly={isDeclared}
      onClose={onClose}
    >
      {LIMIT_WINDOWS.map((window) => (
        <div class="f-row" key={window}>
          <MoneyField
            field={form.field(window)}
            label={TITLES[window]}
            placeholder="no budget"
            disabled={isDeclared}
          />
          <Spent budget={budgets.find(({ reset_interval: reset }) => (reset ?? 'lifetime') === window)} />
        </div>
      ))}
      <CheckField
        field={form.field('include_byok_in_budgets')}
        label="Count own provider keys"
        disabled={isDeclared || !hasBudget}
        hint="Requests paid with your own provider keys use up all budgets of the workspace, at list price."
      />
    </FormDialog>
  );
}

/** What is spent of a budget that exists. */
function Spent({ budget }: { readonly budget: BudgetObject | undefined }) {
  const reserved = useReserved();
  if (budget === undefined) return null;
  const resetMs = nextReset(budget.reset_interval ?? 'lifetime', Date.now());
  return (
    <div class="bud">
      <BudgetBar
        spentUsd={budget.used_usd}
        limitUsd={budget.limit_usd}
        reservedUsd={reserved({ workspace: budget.workspace_id })}
      />
      <p class="hint r between">
        <span>
          <span {...exactUsd(budget.used_usd)}>{shortMoney(budget.used_usd)}</span> spent,{' '}
          <span {...exactUsd(budget.left_usd)}>{shortMoney(budget.left_usd)}</span> left
        </span>
        {resetMs !== null && <span>resets {dateTime(resetMs)}</span>}
      </p>
    </div>
  );
}

function meansOf(values: BudgetValues, name: string, isDeclared: boolean) {
  const hasBudget = LIMIT_WINDOWS.some((window) => values[window].trim() !== '');
  return [
    ...(isDeclared
      ? [<>The configuration file of the gateway declares these budgets, so they are changed there.</>]
      : []),
    hasBudget ? (
      <>
        All keys of <b>{name}</b> together spend at most these amounts. Each period starts at 00:00 UTC, weeks
        on Monday.
      </>
    ) : (
      <>
        Nothing limits the keys of <b>{name}</b> together. Each has its own limit, if it was given one.
      </>
    ),
    <>
      A request must fit three things: the limit of its key, every budget of its workspace, and the balance of
      the account. <b>Whichever is used up first stops it.</b>
    </>,
    <>
      A used-up key limit answers <b>402</b>, a used-up budget <b>403</b>, an empty balance <b>402</b>. The
      error names which.
    </>,
    <>Money is reserved before a request goes out, so racing requests never overspend.</>,
    <>A change counts what was spent before in the window.</>,
  ];
}

/** Whether own provider keys count, if that was changed. */
function byokOf(before: boolean, { include_byok_in_budgets: now }: BudgetValues): boolean | undefined {
  return now === before ? undefined : now;
}

/** The changes, and where only the counting changed, a budget that is set again. */
function stepsOf(
  budgets: readonly BudgetObject[],
  includeByok: boolean,
  values: BudgetValues,
): readonly BudgetChange[] {
  const steps = budgetChanges(budgets, values);
  const kept = budgets.find(({ reset_interval: reset }) => values[reset ?? 'lifetime'].trim() !== '');
  const isOnlyCounting = byokOf(includeByok, values) !== undefined && !steps.some(({ usd }) => usd !== null);
  if (!isOnlyCounting || kept === undefined) return steps;
  return [...steps, { window: kept.reset_interval ?? 'lifetime', usd: kept.limit_usd }];
}

/** Sends a change. Issues of a refusal are about the field of the window. */
async function sendChange(workspaceId: string, step: BudgetChange, byok: boolean | undefined): Promise<void> {
  const { path, ...request } = budgetCall(workspaceId, step, byok);
  try {
    await send(path, request);
  } catch (error) {
    const issues = error instanceof ApiError ? error.metadata.issues : undefined;
    if (!(error instanceof ApiError) || !Array.isArray(issues)) throw error;
    const renamed = issues.map((issue: { readonly message: string }) => ({ ...issue, path: step.window }));
    throw new ApiError(error.status, error.message, { ...error, metadata: { issues: renamed } });
  }
}
