import { isDeepStrictEqual } from 'node:util';
import type { Workspace, WorkspaceEdit } from '../../ports/tenancy/tenancy.ts';
import { newWorkspace } from '../workspaces/new-workspace.ts';
import type { Application, DeclaredChanges, DeclaredWorkspace } from './application.ts';

/** Stores the settings of a declared workspace, if they differ. */
export async function storeWorkspace(
  application: Application,
  declared: DeclaredWorkspace,
  path: string,
): Promise<Workspace> {
  const { dependencies, accountId, changes } = application;
  const { tenancy, sources } = dependencies;
  const { slug } = declared;
  const known = await tenancy.findWorkspace(accountId, slug);
  if (known !== undefined) return editWorkspace(application, known, settingsOf(declared, known, path));
  const workspace = newWorkspace({
    id: sources.uuid(),
    accountId,
    slug,
    name: declared.name ?? slug,
    createdAtMs: sources.clock.now(),
  });
  const made = { ...workspace, ...settingsOf(declared, workspace, path) };
  if (await tenancy.createWorkspace(made)) {
    changes.created++;
    return made;
  }
  // Another gateway with the same file created it meanwhile.
  const other = await tenancy.findWorkspace(accountId, slug);
  if (other === undefined) throw new Error(`the workspace ${slug} was deleted while it was stored`);
  return editWorkspace(application, other, settingsOf(declared, other, path));
}

/** Settings that the file leaves out have their defaults; an existing workspace keeps its name. */
function settingsOf(declared: DeclaredWorkspace, known: Workspace, path: string): WorkspaceEdit {
  return {
    name: declared.name ?? known.name,
    description: declared.description ?? null,
    defaultTextModel: declared.default_text_model ?? null,
    defaultProviderSort: declared.default_provider_sort ?? null,
    isObservabilityIoLoggingEnabled: declared.is_observability_io_logging_enabled ?? false,
    isObservabilityBroadcastEnabled:
      declared.is_observability_broadcast_enabled ?? (declared.destinations ?? []).length > 0,
    ioLoggingSamplingRate: declared.io_logging_sampling_rate ?? 1,
    fileMember: path,
  };
}

/** Workspaces that have left the file keep their settings and budgets, and may be changed by hand again. */
export async function releaseWorkspaces(
  application: Application,
  declared: ReadonlySet<string>,
): Promise<void> {
  for (const workspace of application.former.workspaces) {
    if (workspace.fileMember === null || declared.has(workspace.id)) continue;
    await editWorkspace(application, workspace, { fileMember: null }, 'released');
  }
}

/** Changes a workspace, if the change is one, and counts it. */
export async function editWorkspace(
  { dependencies, changes }: Application,
  workspace: Workspace,
  edit: WorkspaceEdit,
  counter: keyof DeclaredChanges = 'updated',
): Promise<Workspace> {
  if (!differs(workspace, edit)) return workspace;
  const { tenancy, sources, changedWorkspace } = dependencies;
  const { accountId, id } = workspace;
  const outcome = await tenancy.updateWorkspace(accountId, id, edit, sources.clock.now());
  if (outcome.kind !== 'changed') {
    throw new Error(`the workspace ${workspace.slug} was deleted while it was stored`);
  }
  changes[counter]++;
  changedWorkspace(workspace);
  return outcome.workspace;
}

export function differs<T extends object>(current: T, edit: Partial<T>): boolean {
  return Object.entries(edit).some(([name, value]) => !isDeepStrictEqual(current[name as keyof T], value));
}
