import type { Flags } from '../../config/runtime.ts';
import type { BudgetView } from '../../control/budget-commands.ts';
import type { CommandInput } from '../../control/commands.ts';
import { usdText } from '../../kit/text/usd-text.ts';
import { runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export async function listBudgets(
  flags: Flags,
  input: CommandInput<'budgets.list'>,
): Promise<CommandResult<BudgetView[]>> {
  const result = await runControlCommand(flags, 'budgets.list', input);
  return { result, text: result.length === 0 ? 'There are no budgets.\n' : budgetTable(result) };
}

export async function setBudget(
  flags: Flags,
  input: CommandInput<'budgets.set'>,
): Promise<CommandResult<BudgetView>> {
  const result = await runControlCommand(flags, 'budgets.set', input);
  return { result, text: budgetTable([result]) };
}

export async function removeBudget(
  flags: Flags,
  input: CommandInput<'budgets.remove'>,
): Promise<CommandResult<BudgetView>> {
  const result = await runControlCommand(flags, 'budgets.remove', input);
  return {
    result,
    text: `${budgetTable([result])}\nThis budget is removed; what was spent stays counted.\n`,
  };
}

function budgetTable(budgets: readonly BudgetView[]): string {
  return tableText(
    ['WORKSPACE', 'ACCOUNT', 'WINDOW', 'LIMIT', 'USED', 'LEFT', 'COUNTS BYOK', 'MANAGED BY'],
    budgets.map((budget) => [
      budget.workspace,
      budget.account,
      budget.window,
      usdText(budget.limit_usd),
      usdText(budget.used_usd),
      usdText(budget.left_usd),
      budget.include_byok_in_budgets ? 'yes' : 'no',
      budget.managed_by ?? '-',
    ]),
  );
}
