import {
  type AssignmentsQuery,
  type KeySubjects,
  keyAssignmentListSchema,
  keyAssignmentObject,
  keyAssignmentsQuerySchema,
  keySubjectsSchema,
  keysAssignedSchema,
  type MemberSubjects,
  memberAssignmentListSchema,
  memberAssignmentObject,
  memberAssignmentsQuerySchema,
  memberSubjectsSchema,
  membersAssignedSchema,
  unassignedSchema,
} from '../../contract/guardrails/assignment.ts';
import type { AssignmentKind } from '../../ports/guardrails.ts';
import type { Call, Route } from '../route.ts';
import { callerOf, MANAGEMENT, managementRefusals, ok, withBody, withQuery } from './row-parts.ts';

const GUARDRAILS = { ...MANAGEMENT, tag: 'Guardrails' } as const;

const READING_KEYS = {
  ...GUARDRAILS,
  method: 'GET',
  request: withQuery(keyAssignmentsQuerySchema),
} as const;

const READING_MEMBERS = {
  ...GUARDRAILS,
  method: 'GET',
  request: withQuery(memberAssignmentsQuerySchema),
} as const;

const ASSIGNING = {
  ...GUARDRAILS,
  method: 'POST',
} as const;

const READ_REFUSALS = managementRefusals(400, 404);
const WRITE_REFUSALS = managementRefusals(400, 404, 409, 413, 415);

/** The keys and members that guardrails are assigned to. */
export const GUARDRAIL_ASSIGNMENT_ROUTES: readonly Route[] = [
  {
    ...READING_KEYS,
    path: '/guardrails/assignments/keys',
    operationId: 'listKeyAssignments',
    summary: 'Keys with a guardrail of their own, oldest assignment first',
    responses: { 200: ok(keyAssignmentListSchema), ...READ_REFUSALS },
    handler: showKeys,
  },
  {
    ...READING_MEMBERS,
    path: '/guardrails/assignments/members',
    operationId: 'listMemberAssignments',
    summary: 'Members with a guardrail of their own, oldest assignment first',
    responses: { 200: ok(memberAssignmentListSchema), ...READ_REFUSALS },
    handler: showMembers,
  },
  {
    ...READING_KEYS,
    path: '/guardrails/{id}/assignments/keys',
    operationId: 'listGuardrailKeyAssignments',
    summary: 'Keys that a guardrail is assigned to',
    responses: { 200: ok(keyAssignmentListSchema), ...READ_REFUSALS },
    handler: showKeys,
  },
  {
    ...READING_MEMBERS,
    path: '/guardrails/{id}/assignments/members',
    operationId: 'listGuardrailMemberAssignments',
    summary: 'Members that a guardrail is assigned to',
    responses: { 200: ok(memberAssignmentListSchema), ...READ_REFUSALS },
    handler: showMembers,
  },
  {
    ...ASSIGNING,
    path: '/guardrails/{id}/assignments/keys',
    operationId: 'assignKeysToGuardrail',
    summary: 'Assign a guardrail to keys, in place of those that they had',
    request: withBody(keySubjectsSchema),
    responses: { 200: ok(keysAssignedSchema), ...WRITE_REFUSALS },
    handler: (call) => assign(call, 'key', (call.body as KeySubjects).key_hashes),
  },
  {
    ...ASSIGNING,
    path: '/guardrails/{id}/assignments/keys/remove',
    operationId: 'removeKeysFromGuardrail',
    summary: 'Take a guardrail away from keys',
    request: withBody(keySubjectsSchema),
    responses: { 200: ok(unassignedSchema), ...WRITE_REFUSALS },
    handler: (call) => unassign(call, 'key', (call.body as KeySubjects).key_hashes),
  },
  {
    ...ASSIGNING,
    path: '/guardrails/{id}/assignments/members',
    operationId: 'assignMembersToGuardrail',
    summary: 'Assign a guardrail to all keys of members, in place of those that they had',
    request: withBody(memberSubjectsSchema),
    responses: { 200: ok(membersAssignedSchema), ...WRITE_REFUSALS },
    handler: (call) => assign(call, 'member', (call.body as MemberSubjects).member_user_ids),
  },
  {
    ...ASSIGNING,
    path: '/guardrails/{id}/assignments/members/remove',
    operationId: 'removeMembersFromGuardrail',
    summary: 'Take a guardrail away from members',
    request: withBody(memberSubjectsSchema),
    responses: { 200: ok(unassignedSchema), ...WRITE_REFUSALS },
    handler: (call) => unassign(call, 'member', (call.body as MemberSubjects).member_user_ids),
  },
];

async function showKeys(call: Call): Promise<void> {
  const { guardrailAssignments } = call.services;
  const { assignments, total } = await listed(call, 'key');
  const data = (await guardrailAssignments.withKeys(assignments)).map(({ assignment, key }) =>
    keyAssignmentObject(assignment, key),
  );
  call.exchange.reply.json(200, { data, total_count: total });
}

async function showMembers(call: Call): Promise<void> {
  const { assignments, total } = await listed(call, 'member');
  call.exchange.reply.json(200, { data: assignments.map(memberAssignmentObject), total_count: total });
}

/** Without an id in the path: of all guardrails of the account. */
function listed(call: Call, kind: AssignmentKind) {
  const { accountId } = callerOf(call);
  return call.services.guardrailAssignments.list(
    accountId,
    kind,
    call.params.id,
    call.query as AssignmentsQuery,
  );
}

async function assign(call: Call, kind: AssignmentKind, subjects: readonly string[]): Promise<void> {
  const { key } = callerOf(call);
  const { count, replaced } = await call.services.guardrailAssignments.assign(
    key,
    call.params.id ?? '',
    kind,
    subjects,
  );
  const before = replaced.map(({ subject, guardrailId }) => ({
    [kind === 'key' ? 'key_hash' : 'user_id']: subject,
    guardrail_id: guardrailId,
  }));
  call.exchange.reply.json(200, { assigned_count: count, ...(before.length > 0 && { replaced: before }) });
}

async function unassign(call: Call, kind: AssignmentKind, subjects: readonly string[]): Promise<void> {
  const { accountId } = callerOf(call);
  const count = await call.services.guardrailAssignments.unassign(
    accountId,
    call.params.id ?? '',
    kind,
    subjects,
  );
  call.exchange.reply.json(200, { unassigned_count: count });
}
