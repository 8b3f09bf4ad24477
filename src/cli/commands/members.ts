import type { Flags } from '../../config/runtime.ts';
import type { CommandInput, CommandOutput } from '../../control/commands.ts';
import type { MemberView, WorkspaceMemberView } from '../../control/member-commands.ts';
import { runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export async function listMembers(
  flags: Flags,
  input: CommandInput<'members.list'>,
): Promise<CommandResult<MemberView[]>> {
  const result = await runControlCommand(flags, 'members.list', input);
  if (result.length > 0) return { result, text: memberTable(result) };
  const text =
    input.search === undefined
      ? 'There are no members. Add one: signalbox members add jane@example.com\n'
      : `No member has ${input.search} in address or name.\n`;
  return { result, text };
}

export async function addMember(
  flags: Flags,
  input: CommandInput<'members.add'>,
): Promise<CommandResult<MemberView>> {
  const result = await runControlCommand(flags, 'members.add', input);
  return { result, text: memberTable([result]) };
}

export async function updateMember(
  flags: Flags,
  input: CommandInput<'members.update'>,
): Promise<CommandResult<MemberView>> {
  const result = await runControlCommand(flags, 'members.update', input);
  return { result, text: memberTable([result]) };
}

export async function removeMember(
  flags: Flags,
  input: CommandInput<'members.remove'>,
): Promise<CommandResult<MemberView>> {
  const result = await runControlCommand(flags, 'members.remove', input);
  return { result, text: `${result.email} is removed, and the keys of theirs have stopped working.\n` };
}

export async function assignMember(
  flags: Flags,
  input: CommandInput<'members.assign'>,
): Promise<CommandResult<WorkspaceMemberView>> {
  const result = await runControlCommand(flags, 'members.assign', input);
  return { result, text: `${result.email} has the role ${result.role} in ${result.workspace}.\n` };
}

export async function unassignMember(
  flags: Flags,
  input: CommandInput<'members.unassign'>,
): Promise<CommandResult<CommandOutput<'members.unassign'>>> {
  const result = await runControlCommand(flags, 'members.unassign', input);
  const text = result.removed
    ? `${result.email} has no role in ${input.workspace} any more.\n`
    : `${result.email} had no role in ${input.workspace}.\n`;
  return { result, text };
}

function memberTable(members: readonly MemberView[]): string {
  return tableText(
    ['ADDRESS', 'NAME', 'ROLE', 'STATE', 'ACCOUNT', 'MANAGED BY', 'ID'],
    members.map((member) => [
      member.email,
      [member.first_name, member.last_name].filter((name) => name !== null).join(' ') || '-',
      member.role,
      member.disabled ? 'disabled' : 'active',
      member.account,
      member.managed_by ?? '-',
      member.id,
    ]),
  );
}
