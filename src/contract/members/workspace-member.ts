import Type, { type Static } from 'typebox';
import { derivedUuid } from '../../kit/crypto/derived-uuid.ts';
import { closed, oneOf } from '../../kit/json/schema.ts';
import { WORKSPACE_ROLES, type WorkspaceMember } from '../../ports/tenancy/members.ts';
import { pageQuery } from '../guardrails/guardrail.ts';
import { isoTime } from '../values/iso-time.ts';

const MAX_MEMBERS = 100;
const MAX_ID_CHARACTERS = 64;

const userIds = Type.Array(Type.String({ minLength: 1, maxLength: MAX_ID_CHARACTERS }), {
  minItems: 1,
  maxItems: MAX_MEMBERS,
  description: 'Ids of members of the account.',
});

/** Body of `POST /workspaces/{id}/members/add`. */
export const addWorkspaceMembersSchema = closed({
  user_ids: userIds,
  role: Type.Optional(
    oneOf(WORKSPACE_ROLES, { description: '`member` without it. Who has another role gets this instead.' }),
  ),
});

export type AddWorkspaceMembers = Static<typeof addWorkspaceMembersSchema>;

/** Body of `POST /workspaces/{id}/members/remove`. */
export const removeWorkspaceMembersSchema = closed({ user_ids: userIds });

export const workspaceMembersQuerySchema = Type.Object(pageQuery);

export type WorkspaceMembersQuery = Static<typeof workspaceMembersQuerySchema>;

/** A member's role in a workspace. */
export const workspaceMemberSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  user_id: Type.String(),
  workspace_id: Type.String({ format: 'uuid' }),
  role: oneOf(WORKSPACE_ROLES),
  created_at: Type.String({ format: 'date-time' }),
});

export type WorkspaceMemberObject = Static<typeof workspaceMemberSchema>;

export const workspaceMemberListSchema = Type.Object({
  data: Type.Array(workspaceMemberSchema),
  total_count: Type.Integer({ description: 'All of the workspace, on every page.' }),
});

export const workspaceMembersAddedSchema = Type.Object({
  added_count: Type.Integer({ description: 'How many of them had no role in it.' }),
  data: Type.Array(workspaceMemberSchema),
});

export const workspaceMembersRemovedSchema = Type.Object({ removed_count: Type.Integer() });

export function workspaceMemberObject(member: WorkspaceMember): WorkspaceMemberObject {
  const { workspaceId, userId, role, createdAtMs } = member;
  return {
    id: derivedUuid(`member ${userId} of ${workspaceId}`),
    user_id: userId,
    workspace_id: workspaceId,
    role,
    created_at: isoTime(createdAtMs),
  };
}
