import Type from 'typebox';
import { type BudgetObject, budgetObject } from '../contract/workspaces/budget.ts';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import { closed, oneOf } from '../kit/json/schema.ts';
import { usdOf } from '../kit/money.ts';
import { LIMIT_WINDOWS, type LimitWindow } from '../kit/time/windows.ts';
import { remainingNanos } from '../manage/keys/limits.ts';
import { ledgerOr503 } from '../manage/refusals.ts';
import type { Spending } from '../ports/ledger.ts';
import type { Budget } from '../ports/tenancy.ts';
import { type CommandServices, command, oneAccount, parseAmount, text } from './command.ts';
import { type OwnedWorkspace, ownedWorkspaces, requireWorkspace } from './workspace-commands.ts';

/** A budget in the output of commands: as the management API shows it, with its workspace and what is left. */
export interface BudgetView extends BudgetObject {
  readonly account: string;
  /** Slug. */
  readonly workspace: string;
  readonly window: LimitWindow;
  readonly include_byok_in_budgets: boolean;
  /** Spent in the current window; open reservations are not counted. */
  readonly used_usd: number;
  readonly left_usd: number;
}

/** Slug or id of a workspace; default: the account's default one, or all in lists. */
const oneWorkspace = Type.Optional(text);
const window = oneOf(LIMIT_WINDOWS);

/** Commands for budgets of workspaces. */
export const BUDGET_COMMANDS = {
  'budgets.list': command(
    closed({ account: oneAccount, workspace: oneWorkspace }),
    async (services, { account, workspace }): Promise<BudgetView[]> => {
      const places =
        workspace === undefined
          ? await ownedWorkspaces(services, account)
          : [await requireWorkspace(services, account, workspace)];
      const views: BudgetView[] = [];
      for (const place of places) views.push(...(await budgetViews(services, place)));
      return views;
    },
  ),
  'budgets.set': command(
    closed({
      account: oneAccount,
      workspace: oneWorkspace,
      window,
      limit: text,
      include_byok: Type.Optional(Type.Boolean()),
    }),
    async (services, input): Promise<BudgetView> => {
      const { owner, workspace } = await requireWorkspace(services, input.account, input.workspace);
      const nanos = parseAmount(input.limit);
      if (nanos === null) {
        throw invalidRequest([{ path: 'USD', message: 'must be an amount; budgets remove removes one' }]);
      }
      await services.budgets.set(owner.id, workspace.id, input.window, {
        limit_usd: usdOf(nanos),
        ...(input.include_byok !== undefined && { include_byok_in_budgets: input.include_byok }),
      });
      return oneBudget(services, { owner, workspace }, input.window);
    },
  ),
  'budgets.remove': command(
    closed({ account: oneAccount, workspace: oneWorkspace, window }),
    async (services, input): Promise<BudgetView> => {
      const place = await requireWorkspace(services, input.account, input.workspace);
      const removed = await oneBudget(services, place, input.window);
      await services.budgets.delete(place.owner.id, place.workspace.id, input.window);
      return removed;
    },
  ),
} as const;

async function oneBudget(
  services: CommandServices,
  place: OwnedWorkspace,
  wanted: LimitWindow,
): Promise<BudgetView> {
  const view = (await budgetViews(services, place)).find((budget) => budget.window === wanted);
  if (view !== undefined) return view;
  throw new GatewayError('not-found', `${place.workspace.slug} has no ${wanted} budget`);
}

async function budgetViews(
  { budgets, ledger, sources }: CommandServices,
  { owner, workspace }: OwnedWorkspace,
): Promise<BudgetView[]> {
  const { budgets: found, includeByok, fileMember } = await budgets.list(owner.id, workspace.id);
  if (found.length === 0) return [];
  const [spending] = await ledgerOr503(ledger.spendingOf('workspace', [workspace.id], sources.clock.now()));
  if (spending === undefined) throw new Error('the ledger left a workspace out');
  return found.map((budget) => ({
    ...budgetObject(budget, fileMember),
    account: owner.name,
    workspace: workspace.slug,
    window: budget.window,
    include_byok_in_budgets: includeByok,
    ...moneyOf(budget, includeByok, spending),
  }));
}

function moneyOf({ window: ofBudget, limitNanos }: Budget, countsByok: boolean, spending: Spending) {
  const used = spending.credit[ofBudget] + (countsByok ? spending.byok[ofBudget] : 0n);
  const left = remainingNanos({ window: ofBudget, nanos: limitNanos, countsByok }, spending);
  return { used_usd: usdOf(used), left_usd: usdOf(left) };
}
