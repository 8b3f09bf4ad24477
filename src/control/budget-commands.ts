import Type from 'typebox';
import { type BudgetObject, budgetObject } from '../contract/workspaces/budget.ts';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import { closed, oneOf } from '../kit/json/schema.ts';
import { usdOf } from '../kit/money.ts';
import { LIMIT_WINDOWS, type LimitWindow } from '../kit/time/windows.ts';
import { type CommandServices, command, oneAccount, parseAmount, text } from './command.ts';
import { type OwnedWorkspace, ownedWorkspaces, requireWorkspace } from './workspace-commands.ts';

/** A budget in the output of commands: as the management API shows it, with its workspace. */
export interface BudgetView extends BudgetObject {
  readonly account: string;
  /** Slug. */
  readonly workspace: string;
  readonly window: LimitWindow;
  readonly include_byok_in_budgets: boolean;
}

/** Slug or id of a workspace; default: the account's default one, or all in lists. */
const oneWorkspace = Type.Optional(text);
const window = oneOf(LIMIT_WINDOWS);

export const BUDGET_COMMANDS = {
  'budgets.list': command(
    'budgets.read',
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
    'budgets.change',
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
    'budgets.change',
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
  { budgets }: CommandServices,
  { owner, workspace }: OwnedWorkspace,
): Promise<BudgetView[]> {
  const { budgets: found, includeByok, fileMember } = await budgets.list(owner.id, workspace.id);
  return found.map((budget) => ({
    ...budgetObject(budget, fileMember),
    account: owner.name,
    workspace: workspace.slug,
    window: budget.window,
    include_byok_in_budgets: includeByok,
  }));
}
