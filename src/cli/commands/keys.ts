import type { Flags } from '../../config/runtime.ts';
import type { CommandInput } from '../../control/commands.ts';
import type { IssuedKeyView, KeyView } from '../../control/views.ts';
import { usdText } from '../../kit/text/usd-text.ts';
import { dataDirectoryLine, runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export async function createKey(
  flags: Flags,
  input: CommandInput<'keys.create'>,
): Promise<CommandResult<IssuedKeyView>> {
  const result = await runControlCommand(flags, 'keys.create', input);
  const notes =
    `\n${keyTable([result])}\n` +
    `The key above is shown this once; only its hash is stored.\n${dataDirectoryLine(flags)}`;
  return { result, text: `${result.key}\n`, notes };
}

export async function listKeys(
  flags: Flags,
  input: CommandInput<'keys.list'>,
): Promise<CommandResult<KeyView[]>> {
  const result = await runControlCommand(flags, 'keys.list', input);
  return { result, text: result.length === 0 ? 'There are no keys.\n' : keyTable(result) };
}

export async function updateKey(
  flags: Flags,
  input: CommandInput<'keys.update'>,
): Promise<CommandResult<KeyView>> {
  const result = await runControlCommand(flags, 'keys.update', input);
  return { result, text: keyTable([result]) };
}

export async function revokeKey(
  flags: Flags,
  input: CommandInput<'keys.revoke'>,
): Promise<CommandResult<KeyView>> {
  const result = await runControlCommand(flags, 'keys.revoke', input);
  return { result, text: `${keyTable([result])}\nThis key is revoked.\n` };
}

function keyTable(keys: readonly KeyView[]): string {
  return tableText(
    [
      'NAME',
      'KIND',
      'LABEL',
      'ACCOUNT',
      'WORKSPACE',
      'STATE',
      'LIMIT',
      'USED',
      'CREATED',
      'MANAGED BY',
      'HASH',
    ],
    keys.map((key) => [
      key.name,
      key.is_management_key ? 'management' : 'plain',
      key.label,
      key.account,
      key.workspace,
      stateText(key),
      limitText(key),
      key.is_management_key ? '-' : usdText(key.usage),
      key.created_at,
      key.managed_by ?? '-',
      key.hash,
    ]),
  );
}

function stateText({ disabled, expires_at }: KeyView): string {
  if (disabled) return 'disabled';
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
}

function limitText({ is_management_key, limit, limit_reset, include_byok_in_limit }: KeyView): string {
  if (is_management_key) return '-';
  if (limit === null) return 'none';
  const byok = include_byok_in_limit ? ' with BYOK' : '';
  return `${usdText(limit)} ${limit_reset ?? 'in all'}${byok}`;
}
