import {
  createWorkspaceSchema,
  updateWorkspaceSchema,
  type WorkspaceObject,
  workspaceObject,
} from '../contract/workspaces/workspace.ts';
import { GatewayError } from '../ir/errors.ts';
import { closed } from '../kit/json/schema.ts';
import type { Account, Workspace } from '../ports/tenancy/tenancy.ts';
import { type CommandServices, command, oneAccount, text } from './command.ts';

/** A workspace in the output of commands: as the management API shows it, with its account. */
export interface WorkspaceView extends WorkspaceObject {
  /** Name. */
  readonly account: string;
}

function workspaceView(workspace: Workspace, { name }: Account): WorkspaceView {
  return { ...workspaceObject(workspace), account: name };
}

/** Commands for workspaces; `workspace` is an id or a slug. */
export const WORKSPACE_COMMANDS = {
  'workspaces.list': command(
    'workspaces.read',
    closed({ account: oneAccount }),
    async (services, { account }): Promise<WorkspaceView[]> =>
      (await ownedWorkspaces(services, account)).map(({ workspace, owner }) =>
        workspaceView(workspace, owner),
      ),
  ),
  'workspaces.create': command(
    'workspaces.change',
    closed({ account: oneAccount, workspace: createWorkspaceSchema }),
    async ({ accounts, workspaces }, { account, workspace }): Promise<WorkspaceView> => {
      const owner = await accounts.require(account);
      const creator = { accountId: owner.id, creatorUserId: null };
      return workspaceView(await workspaces.create(creator, workspace), owner);
    },
  ),
  'workspaces.update': command(
    'workspaces.change',
    closed({ account: oneAccount, workspace: text, change: updateWorkspaceSchema }),
    async (services, { account, workspace, change }): Promise<WorkspaceView> => {
      const { owner, workspace: found } = await requireWorkspace(services, account, workspace);
      return workspaceView(await services.workspaces.update(owner.id, found.id, change), owner);
    },
  ),
  'workspaces.delete': command(
    'workspaces.change',
    closed({ account: oneAccount, workspace: text }),
    async (services, { account, workspace }): Promise<WorkspaceView> => {
      const { owner, workspace: found } = await requireWorkspace(services, account, workspace);
      await services.workspaces.delete(owner.id, found.id);
      return workspaceView(found, owner);
    },
  ),
} as const;

export interface OwnedWorkspace {
  readonly workspace: Workspace;
  readonly owner: Account;
}

const PAGE_WORKSPACES = 100;

/** The workspaces of an account, or of all accounts, oldest first. */
export async function ownedWorkspaces(
  { accounts, workspaces }: CommandServices,
  account: string | undefined,
): Promise<OwnedWorkspace[]> {
  const owned: OwnedWorkspace[] = [];
  for (const owner of account === undefined ? await accounts.list() : [await accounts.require(account)]) {
    for (let offset = 0, total = 1; offset < total; offset += PAGE_WORKSPACES) {
      const page = await workspaces.list(owner.id, { offset, limit: PAGE_WORKSPACES });
      total = page.total;
      owned.push(...page.workspaces.map((workspace) => ({ workspace, owner })));
    }
  }
  return owned;
}

/** The named workspace, or the account's default one. Throws 404. */
export async function requireWorkspace(
  { accounts, workspaces }: CommandServices,
  account: string | undefined,
  idOrSlug: string | undefined,
): Promise<OwnedWorkspace> {
  const owner = await accounts.require(account);
  const workspace = await workspaces.find(owner.id, idOrSlug);
  if (workspace !== undefined) return { workspace, owner };
  throw new GatewayError(
    'not-found',
    `workspace: ${owner.name} has no workspace ${idOrSlug ?? 'by default'}`,
  );
}
