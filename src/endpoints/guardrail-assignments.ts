import {
  type AssignmentsQuery,
  keyAssignmentListSchema,
  keyAssignmentObject,
  keyAssignmentsQuerySchema,
  keySubjectsSchema,
  keysAssignedSchema,
  memberAssignmentListSchema,
  memberAssignmentObject,
  memberAssignmentsQuerySchema,
  memberSubjectsSchema,
  membersAssignedSchema,
  unassignedSchema,
} from '../contract/guardrails/assignment.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import type { AssignmentKind } from '../ports/tenancy/guardrails.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { MANAGEMENT } from './endpoint-parts.ts';
import type { EndpointServices } from './services.ts';

const GUARDRAILS = { ...MANAGEMENT, tag: 'Guardrails' } as const;

const READING_KEYS = {
  ...GUARDRAILS,
  method: 'GET',
  query: keyAssignmentsQuerySchema,
} as const;

const READING_MEMBERS = {
  ...GUARDRAILS,
  method: 'GET',
  query: memberAssignmentsQuerySchema,
} as const;

const ASSIGNING = {
  ...GUARDRAILS,
  method: 'POST',
} as const;

/** The keys and members that guardrails are assigned to. */
export const GUARDRAIL_ASSIGNMENT_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...READING_KEYS,
    path: '/guardrails/assignments/keys',
    operationId: 'listKeyAssignments',
    summary: 'Keys with a guardrail of their own, oldest assignment first',
    permission: 'guardrails.read',
    reply: keyAssignmentListSchema,
    refusals: [400, 404],
    run: showKeys,
  }),
  endpoint({
    ...READING_MEMBERS,
    path: '/guardrails/assignments/members',
    operationId: 'listMemberAssignments',
    summary: 'Members with a guardrail of their own, oldest assignment first',
    permission: 'guardrails.read',
    reply: memberAssignmentListSchema,
    refusals: [400, 404],
    run: showMembers,
  }),
  endpoint({
    ...READING_KEYS,
    path: '/guardrails/{id}/assignments/keys',
    operationId: 'listGuardrailKeyAssignments',
    summary: 'Keys that a guardrail is assigned to',
    permission: 'guardrails.read',
    reply: keyAssignmentListSchema,
    refusals: [400, 404],
    run: showKeys,
  }),
  endpoint({
    ...READING_MEMBERS,
    path: '/guardrails/{id}/assignments/members',
    operationId: 'listGuardrailMemberAssignments',
    summary: 'Members that a guardrail is assigned to',
    permission: 'guardrails.read',
    reply: memberAssignmentListSchema,
    refusals: [400, 404],
    run: showMembers,
  }),
  endpoint({
    ...ASSIGNING,
    path: '/guardrails/{id}/assignments/keys',
    operationId: 'assignKeysToGuardrail',
    summary: 'Assign a guardrail to keys, in place of those that they had',
    permission: 'guardrails.change',
    body: keySubjectsSchema,
    reply: keysAssignedSchema,
    refusals: [404, 409],
    run: async (call) => {
      const { count, replaced } = await assign(call, 'key', call.body.key_hashes);
      const before = replaced.map(({ subject, guardrailId }) => ({
        key_hash: subject,
        guardrail_id: guardrailId,
      }));
      return { assigned_count: count, ...(before.length > 0 && { replaced: before }) };
    },
  }),
  endpoint({
    ...ASSIGNING,
    path: '/guardrails/{id}/assignments/keys/remove',
    operationId: 'removeKeysFromGuardrail',
    summary: 'Take a guardrail away from keys',
    permission: 'guardrails.change',
    body: keySubjectsSchema,
    reply: unassignedSchema,
    refusals: [404, 409],
    run: (call) => unassign(call, 'key', call.body.key_hashes),
  }),
  endpoint({
    ...ASSIGNING,
    path: '/guardrails/{id}/assignments/members',
    operationId: 'assignMembersToGuardrail',
    summary: 'Assign a guardrail to all keys of members, in place of those that they had',
    permission: 'guardrails.change',
    body: memberSubjectsSchema,
    reply: membersAssignedSchema,
    refusals: [404, 409],
    run: async (call) => {
      const { count, replaced } = await assign(call, 'member', call.body.member_user_ids);
      const before = replaced.map(({ subject, guardrailId }) => ({
        user_id: subject,
        guardrail_id: guardrailId,
      }));
      return { assigned_count: count, ...(before.length > 0 && { replaced: before }) };
    },
  }),
  endpoint({
    ...ASSIGNING,
    path: '/guardrails/{id}/assignments/members/remove',
    operationId: 'removeMembersFromGuardrail',
    summary: 'Take a guardrail away from members',
    permission: 'guardrails.change',
    body: memberSubjectsSchema,
    reply: unassignedSchema,
    refusals: [404, 409],
    run: (call) => unassign(call, 'member', call.body.member_user_ids),
  }),
];

/** A request for assignments; without an id in the path, for those of all guardrails of the account. */
interface ListCall {
  readonly services: EndpointServices;
  readonly caller: Caller;
  readonly params: { readonly id?: string };
  readonly query: AssignmentsQuery;
}

async function showKeys(call: ListCall) {
  const { guardrailAssignments } = call.services;
  const { assignments, total } = await listed(call, 'key');
  const data = (await guardrailAssignments.withKeys(assignments)).map(({ assignment, key }) =>
    keyAssignmentObject(assignment, key),
  );
  return { data, total_count: total };
}

async function showMembers(call: ListCall) {
  const { assignments, total } = await listed(call, 'member');
  return { data: assignments.map(memberAssignmentObject), total_count: total };
}

function listed({ services, caller, params, query }: ListCall, kind: AssignmentKind) {
  return services.guardrailAssignments.list(caller.accountId, kind, params.id, query);
}

interface ChangeCall {
  readonly services: EndpointServices;
  readonly caller: Caller;
  readonly params: { readonly id: string };
}

/** Assigns a guardrail to subjects. `replaced`: what those had that had another one. */
function assign({ services, caller, params }: ChangeCall, kind: AssignmentKind, subjects: readonly string[]) {
  return services.guardrailAssignments.assign(caller.key, params.id, kind, subjects);
}

async function unassign(
  { services, caller, params }: ChangeCall,
  kind: AssignmentKind,
  subjects: readonly string[],
) {
  const count = await services.guardrailAssignments.unassign(caller.accountId, params.id, kind, subjects);
  return { unassigned_count: count };
}
