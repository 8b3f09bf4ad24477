import Type, { type Static } from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import { ACCOUNT_ROLES, type Member } from '../../ports/tenancy/members.ts';
import { isoTime, isoTimeOrNull } from '../values/iso-time.ts';
import { managedBy, managedBySchema } from '../values/managed-by.ts';
import { nullable } from '../values/nullable.ts';
import { readableText } from '../values/readable-text.ts';

const MAX_NAME_CHARACTERS = 100;
const MAX_EMAIL_CHARACTERS = 254;
const MAX_SEARCH_CHARACTERS = 254;

const email = Type.String({
  minLength: 3,
  maxLength: MAX_EMAIL_CHARACTERS,
  pattern: '^[^\\s@\\p{C}<>"]+@[^\\s@\\p{C}<>"]+$',
  explainPattern: 'must be an address such as jane@example.com',
  description: 'Kept in lower case; unique in the account.',
});

const name = nullish(readableText(MAX_NAME_CHARACTERS));

const role = oneOf(ACCOUNT_ROLES);

export const createMemberSchema = closed({
  email,
  first_name: name,
  last_name: name,
  role: Type.Optional(oneOf(ACCOUNT_ROLES, { description: '`org:member` without it.' })),
});

export type CreateMember = Static<typeof createMemberSchema>;

/** Body of `PATCH /organization/members/{id}`: absent members stay unchanged. */
export const updateMemberSchema = closed({
  email: Type.Optional(email),
  first_name: name,
  last_name: name,
  role: Type.Optional(role),
  disabled: Type.Optional(
    Type.Boolean({ description: 'Keys and sessions of a member who is disabled stop working at once.' }),
  ),
});

export type UpdateMember = Static<typeof updateMemberSchema>;

export const membersQuerySchema = Type.Object({
  offset: nullish(Type.Integer({ minimum: 0, description: 'Members to skip.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; 50 without it.' })),
  search: nullish(
    Type.String({ maxLength: MAX_SEARCH_CHARACTERS, description: 'Part of the address or of the name.' }),
  ),
  state: nullish(oneOf(['active', 'disabled'])),
});

export type MembersQuery = Static<typeof membersQuerySchema>;

/** A person of the account. */
export const memberSchema = Type.Object(
  {
    id: Type.String({ description: '`user_` and 24 characters. Keys name it as `creator_user_id`.' }),
    email: Type.String(),
    first_name: nullable(Type.String()),
    last_name: nullable(Type.String()),
    role,
    disabled: Type.Boolean(),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: nullable(Type.String({ format: 'date-time' })),
    managed_by: managedBySchema,
  },
  { description: 'A person of an account.' },
);

export type MemberObject = Static<typeof memberSchema>;

export const memberReplySchema = Type.Object({ data: memberSchema });

export const memberListSchema = Type.Object({
  data: Type.Array(memberSchema),
  total_count: Type.Integer({ description: 'All that match, on every page.' }),
});

export function memberObject(member: Member): MemberObject {
  return {
    id: member.id,
    email: member.email,
    first_name: member.firstName,
    last_name: member.lastName,
    role: member.role,
    disabled: member.state === 'disabled',
    created_at: isoTime(member.createdAtMs),
    updated_at: isoTimeOrNull(member.updatedAtMs),
    managed_by: managedBy(member.fileMember),
  };
}
