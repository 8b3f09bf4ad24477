import { deletedSchema } from '../contract/envelopes/deleted.ts';
import {
  createMemberSchema,
  memberListSchema,
  memberObject,
  memberReplySchema,
  membersQuerySchema,
  updateMemberSchema,
} from '../contract/members/member.ts';
import {
  addWorkspaceMembersSchema,
  removeWorkspaceMembersSchema,
  workspaceMemberListSchema,
  workspaceMemberObject,
  workspaceMembersAddedSchema,
  workspaceMembersQuerySchema,
  workspaceMembersRemovedSchema,
} from '../contract/members/workspace-member.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { DELETED, MANAGEMENT, placeOf } from './endpoint-parts.ts';

const MEMBERS = { ...MANAGEMENT, tag: 'Members' } as const;

export const MEMBER_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...MEMBERS,
    method: 'GET',
    path: '/organization/members',
    operationId: 'listMembers',
    summary: 'People of the account, oldest first',
    permission: 'members.read',
    query: membersQuerySchema,
    reply: memberListSchema,
    run: async ({ services, caller, query }) => {
      const { members, total } = await services.members.list(caller.accountId, query);
      return { data: members.map(memberObject), total_count: total };
    },
  }),
  endpoint({
    ...MEMBERS,
    method: 'POST',
    path: '/organization/members',
    operationId: 'createMember',
    summary: 'Add a person to the account',
    permission: 'members.change',
    body: createMemberSchema,
    reply: memberReplySchema,
    status: 201,
    refusals: [409],
    run: async ({ services, caller, body }) => ({
      data: memberObject(await services.members.create(caller.accountId, body)),
    }),
  }),
  endpoint({
    ...MEMBERS,
    method: 'GET',
    path: '/organization/members/{id}',
    operationId: 'getMember',
    summary: 'One person of the account',
    permission: 'members.read',
    reply: memberReplySchema,
    refusals: [404],
    run: async (call) => ({ data: memberObject(await call.services.members.get(...placeOf(call))) }),
  }),
  endpoint({
    ...MEMBERS,
    method: 'PATCH',
    path: '/organization/members/{id}',
    operationId: 'updateMember',
    summary: 'Change a person’s names or role, or disable them with all of their keys',
    permission: 'members.change',
    body: updateMemberSchema,
    reply: memberReplySchema,
    refusals: [404, 409],
    run: async (call) => ({
      data: memberObject(await call.services.members.update(...placeOf(call), call.body)),
    }),
  }),
  endpoint({
    ...MEMBERS,
    method: 'DELETE',
    path: '/organization/members/{id}',
    operationId: 'deleteMember',
    summary: 'Remove a person from the account; their keys stop working',
    permission: 'members.change',
    reply: deletedSchema,
    refusals: [404, 409],
    run: async (call) => {
      await call.services.members.remove(...placeOf(call));
      return DELETED;
    },
  }),
  endpoint({
    ...MEMBERS,
    method: 'GET',
    path: '/workspaces/{id}/members',
    operationId: 'listWorkspaceMembers',
    summary: 'Roles in a workspace; all people of the account are members of the default workspace',
    permission: 'members.read',
    query: workspaceMembersQuerySchema,
    reply: workspaceMemberListSchema,
    refusals: [404],
    run: async (call) => {
      const { members, total } = await call.services.members.listOfWorkspace(...placeOf(call), call.query);
      return { data: members.map(workspaceMemberObject), total_count: total };
    },
  }),
  endpoint({
    ...MEMBERS,
    method: 'POST',
    path: '/workspaces/{id}/members/add',
    operationId: 'addWorkspaceMembers',
    summary: 'Give people of the account a role in a workspace',
    permission: 'members.change',
    body: addWorkspaceMembersSchema,
    reply: workspaceMembersAddedSchema,
    refusals: [404],
    run: async (call) => {
      const { added, members } = await call.services.members.addToWorkspace(...placeOf(call), call.body);
      return { added_count: added, data: members.map(workspaceMemberObject) };
    },
  }),
  endpoint({
    ...MEMBERS,
    method: 'POST',
    path: '/workspaces/{id}/members/remove',
    operationId: 'removeWorkspaceMembers',
    summary: 'Take people’s roles in a workspace away',
    permission: 'members.change',
    body: removeWorkspaceMembersSchema,
    reply: workspaceMembersRemovedSchema,
    refusals: [400, 404],
    run: async (call) => ({
      removed_count: await call.services.members.removeFromWorkspace(...placeOf(call), call.body.user_ids),
    }),
  }),
];
