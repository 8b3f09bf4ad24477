import type { Flags } from '../../config/runtime.ts';
import type { CommandInput } from '../../control/commands.ts';
import type { WorkspaceView } from '../../control/workspace-commands.ts';
import { runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export async function listWorkspaces(
  flags: Flags,
  input: CommandInput<'workspaces.list'>,
): Promise<CommandResult<WorkspaceView[]>> {
  const result = await runControlCommand(flags, 'workspaces.list', input);
  return { result, text: result.length === 0 ? 'There are no workspaces.\n' : workspaceTable(result) };
}

export async function createWorkspace(
  flags: Flags,
  input: CommandInput<'workspaces.create'>,
): Promise<CommandResult<WorkspaceView>> {
  const result = await runControlCommand(flags, 'workspaces.create', input);
  return { result, text: workspaceTable([result]) };
}

export async function updateWorkspace(
  flags: Flags,
  input: CommandInput<'workspaces.update'>,
): Promise<CommandResult<WorkspaceView>> {
  const result = await runControlCommand(flags, 'workspaces.update', input);
  return { result, text: workspaceTable([result]) };
}

export async function deleteWorkspace(
  flags: Flags,
  input: CommandInput<'workspaces.delete'>,
): Promise<CommandResult<WorkspaceView>> {
  const result = await runControlCommand(flags, 'workspaces.delete', input);
  return { result, text: `${workspaceTable([result])}\nThis workspace is deleted.\n` };
}

function workspaceTable(workspaces: readonly WorkspaceView[]): string {
  return tableText(
    ['SLUG', 'NAME', 'ACCOUNT', 'DEFAULT MODEL', 'STORED', 'MANAGED BY', 'ID'],
    workspaces.map((workspace) => [
      workspace.slug,
      workspace.name,
      workspace.account,
      workspace.default_text_model ?? '-',
      storedText(workspace),
      workspace.managed_by ?? '-',
      workspace.id,
    ]),
  );
}

function storedText(workspace: WorkspaceView): string {
  if (!workspace.is_observability_io_logging_enabled) return 'no';
  const { io_logging_sampling_rate: share } = workspace;
  return share === 1 ? 'all' : `${Number((share * 100).toFixed(2))} %`;
}
