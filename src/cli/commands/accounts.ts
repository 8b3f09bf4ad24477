import type { Flags } from '../../config/runtime.ts';
import type { AccountView, NewAccountView } from '../../control/views.ts';
import { dataDirectoryLine, runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export async function createAccount(flags: Flags, name: string): Promise<CommandResult<NewAccountView>> {
  const result = await runControlCommand(flags, 'accounts.create', { name });
  const notes =
    `\n${accountTable([result])}\nThe management key above is shown this once; ` +
    `only its hash is stored.\n${dataDirectoryLine(flags)}`;
  return { result, text: `${result.management_key}\n`, notes };
}

export async function listAccounts(flags: Flags): Promise<CommandResult<AccountView[]>> {
  const result = await runControlCommand(flags, 'accounts.list', {});
  return { result, text: result.length === 0 ? 'There are no accounts.\n' : accountTable(result) };
}

function accountTable(accounts: readonly AccountView[]): string {
  return tableText(
    ['NAME', 'CREATED', 'ID'],
    accounts.map(({ name, created_at, id }) => [name, created_at, id]),
  );
}
