import Type from 'typebox';
import {
  createMemberSchema,
  type MemberObject,
  memberObject,
  updateMemberSchema,
} from '../contract/members/member.ts';
import {
  addWorkspaceMembersSchema,
  type WorkspaceMemberObject,
  workspaceMemberObject,
} from '../contract/members/workspace-member.ts';
import { closed } from '../kit/json/schema.ts';
import type { Member } from '../ports/tenancy/members.ts';
import type { Account } from '../ports/tenancy/tenancy.ts';
import { type CommandServices, command, oneAccount, text } from './command.ts';
import { requireWorkspace } from './workspace-commands.ts';

/** A person in the output of commands: as the management API shows them, with their account. */
export interface MemberView extends MemberObject {
  /** Name. */
  readonly account: string;
}

/** A role in a workspace, with the names of both. */
export interface WorkspaceMemberView extends WorkspaceMemberObject {
  readonly email: string;
  /** Slug. */
  readonly workspace: string;
}

function memberView(member: Member, { name }: Account): MemberView {
  return { ...memberObject(member), account: name };
}

const PAGE_MEMBERS = 100;

/** `member` is an id or an address. */
const named = { account: oneAccount, member: text };

/** Commands for the people of accounts, and their roles in workspaces. */
export const MEMBER_COMMANDS = {
  'members.list': command(
    'members.read',
    closed({ account: oneAccount, search: Type.Optional(text) }),
    async (services, { account, search }): Promise<MemberView[]> => {
      const { accounts, members } = services;
      const owners = account === undefined ? await accounts.list() : [await accounts.require(account)];
      const views: MemberView[] = [];
      for (const owner of owners) {
        for (let offset = 0, total = 1; offset < total; offset += PAGE_MEMBERS) {
          const query = { offset, limit: PAGE_MEMBERS, ...(search !== undefined && { search }) };
          const page = await members.list(owner.id, query);
          total = page.total;
          views.push(...page.members.map((member) => memberView(member, owner)));
        }
      }
      return views;
    },
  ),
  'members.add': command(
    'members.change',
    closed({ account: oneAccount, member: createMemberSchema }),
    async ({ accounts, members }, { account, member }): Promise<MemberView> => {
      const owner = await accounts.require(account);
      return memberView(await members.create(owner.id, member), owner);
    },
  ),
  'members.update': command(
    'members.change',
    closed({ ...named, change: updateMemberSchema }),
    async (services, { change, ...named }): Promise<MemberView> => {
      const { owner, member } = await requireMember(services, named);
      return memberView(await services.members.update(owner.id, member.id, change), owner);
    },
  ),
  'members.remove': command('members.change', closed(named), async (services, named): Promise<MemberView> => {
    const { owner, member } = await requireMember(services, named);
    await services.members.remove(owner.id, member.id);
    return memberView(member, owner);
  }),
  'members.assign': command(
    'members.change',
    closed({ ...named, workspace: Type.Optional(text), role: addWorkspaceMembersSchema.properties.role }),
    async (services, { workspace: slug, role, ...named }): Promise<WorkspaceMemberView> => {
      const { owner, member } = await requireMember(services, named);
      const { workspace } = await requireWorkspace(services, named.account, slug);
      const wanted = { user_ids: [member.id], ...(role !== undefined && { role }) };
      const { members } = await services.members.addToWorkspace(owner.id, workspace.id, wanted);
      const [given] = members;
      if (given === undefined) throw new Error('a role that was given is not there');
      return { ...workspaceMemberObject(given), email: member.email, workspace: workspace.slug };
    },
  ),
  'members.unassign': command(
    'members.change',
    closed({ ...named, workspace: text }),
    async (services, { workspace: slug, ...named }): Promise<MemberView & { readonly removed: boolean }> => {
      const { owner, member } = await requireMember(services, named);
      const { workspace } = await requireWorkspace(services, named.account, slug);
      const removed = await services.members.removeFromWorkspace(owner.id, workspace.id, [member.id]);
      return { ...memberView(member, owner), removed: removed > 0 };
    },
  ),
} as const;

async function requireMember(
  { accounts, members }: CommandServices,
  { account, member }: { readonly account?: string | undefined; readonly member: string },
): Promise<{ readonly owner: Account; readonly member: Member }> {
  const owner = await accounts.require(account);
  return { owner, member: await members.getNamed(owner.id, member) };
}
