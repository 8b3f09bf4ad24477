import Type, { type Static } from 'typebox';
import { closed } from '../../kit/json/schema.ts';
import type { GuardrailAssignment } from '../../ports/tenancy/guardrails.ts';
import { isoTime } from '../values/iso-time.ts';
import { nullable } from '../values/nullable.ts';
import { readableText } from '../values/readable-text.ts';
import { pageQuery } from './guardrail.ts';

const MAX_SUBJECTS = 1000;

/** Body of `POST /guardrails/{id}/assignments/keys` and `.../keys/remove`. */
export const keySubjectsSchema = closed({
  key_hashes: Type.Array(
    Type.String({
      pattern: '^[a-f0-9]{64}$',
      explain: 'must be the hash of a key: 64 lower-case hex digits',
    }),
    { minItems: 1, maxItems: MAX_SUBJECTS },
  ),
});

export type KeySubjects = Static<typeof keySubjectsSchema>;

/** Body of `POST /guardrails/{id}/assignments/members` and `.../members/remove`. */
export const memberSubjectsSchema = closed({
  member_user_ids: Type.Array(
    readableText(256, { description: '`creator_user_id` of the keys that the member created.' }),
    { minItems: 1, maxItems: MAX_SUBJECTS },
  ),
});

export type MemberSubjects = Static<typeof memberSubjectsSchema>;

export const keyAssignmentsQuerySchema = Type.Object({
  ...pageQuery,
  key_hash: Type.Optional(Type.String({ description: 'Only that of this key.' })),
});

export const memberAssignmentsQuerySchema = Type.Object({
  ...pageQuery,
  user_id: Type.Optional(Type.String({ description: 'Only that of this member.' })),
});

export type AssignmentsQuery = Partial<
  Static<typeof keyAssignmentsQuerySchema> & Static<typeof memberAssignmentsQuerySchema>
>;

const common = {
  id: Type.String({ format: 'uuid' }),
  guardrail_id: Type.String({ format: 'uuid' }),
  assigned_by: nullable(Type.String(), {
    description: 'The creator of the management key that assigned it.',
  }),
  created_at: Type.String({ format: 'date-time' }),
};

/** A guardrail that a key has. */
export const keyAssignmentSchema = Type.Object({
  ...common,
  key_hash: Type.String(),
  key_name: Type.String(),
  key_label: Type.String(),
});

export type KeyAssignmentObject = Static<typeof keyAssignmentSchema>;

/** A guardrail that all keys of a member have. */
export const memberAssignmentSchema = Type.Object({
  ...common,
  user_id: Type.String(),
  organization_id: Type.String({ description: 'The account.' }),
});

export type MemberAssignmentObject = Static<typeof memberAssignmentSchema>;

const total = Type.Integer({ description: 'All that match, on every page.' });

export const keyAssignmentListSchema = Type.Object({
  data: Type.Array(keyAssignmentSchema),
  total_count: total,
});

export const memberAssignmentListSchema = Type.Object({
  data: Type.Array(memberAssignmentSchema),
  total_count: total,
});

const guardrailBefore = Type.String({ format: 'uuid', description: 'The guardrail that no longer holds.' });

export const keysAssignedSchema = Type.Object({
  assigned_count: Type.Integer(),
  replaced: Type.Optional(
    Type.Array(Type.Object({ key_hash: Type.String(), guardrail_id: guardrailBefore }), {
      description: 'Keys that had another guardrail, which this one replaces. Absent = none.',
    }),
  ),
});

export const membersAssignedSchema = Type.Object({
  assigned_count: Type.Integer(),
  replaced: Type.Optional(
    Type.Array(Type.Object({ user_id: Type.String(), guardrail_id: guardrailBefore }), {
      description: 'Members who had another guardrail, which this one replaces. Absent = none.',
    }),
  ),
});

export const unassignedSchema = Type.Object({ unassigned_count: Type.Integer() });

export function keyAssignmentObject(
  assignment: GuardrailAssignment,
  key: { readonly name: string; readonly label: string } | undefined,
): KeyAssignmentObject {
  return {
    ...commonOf(assignment),
    key_hash: assignment.subject,
    key_name: key?.name ?? '',
    key_label: key?.label ?? '',
  };
}

export function memberAssignmentObject(assignment: GuardrailAssignment): MemberAssignmentObject {
  return { ...commonOf(assignment), user_id: assignment.subject, organization_id: assignment.accountId };
}

function commonOf({ id, guardrailId, assignedBy, createdAtMs }: GuardrailAssignment) {
  return { id, guardrail_id: guardrailId, assigned_by: assignedBy, created_at: isoTime(createdAtMs) };
}
