import type {
  KeyAssignmentObject,
  KeySubjects,
  MemberAssignmentObject,
  MemberSubjects,
} from '../../../contract/guardrails/assignment.ts';
import type { RouteExample } from '../../route.ts';
import { GUARDRAIL_ID } from './guardrails.ts';
import { KEY_HASH } from './ids.ts';

const MEMBER = 'user_2dHFtVWx2n56w6HkM0000000000';

const common = {
  id: '3c9b4f43-11cc-4d51-8a0f-2f6e3b6f0c11',
  guardrail_id: GUARDRAIL_ID,
  assigned_by: null,
  created_at: '2026-11-17T05:17:06.101Z',
} as const;

const OF_KEY = {
  ...common,
  key_hash: KEY_HASH,
  key_name: 'team key',
  key_label: 'sk-...c1f0',
} satisfies KeyAssignmentObject;

const OF_MEMBER = {
  ...common,
  user_id: MEMBER,
  organization_id: '1b1f0a52-7d1e-4c0f-9a39-6f1c52a30f8e',
} satisfies MemberAssignmentObject;

const BY_ID = { id: GUARDRAIL_ID };
const KEYS = { key_hashes: [KEY_HASH] } satisfies KeySubjects;
const MEMBERS = { member_user_ids: [MEMBER] } satisfies MemberSubjects;
const KEY_LIST = { data: [OF_KEY], total_count: 1 };
const MEMBER_LIST = { data: [OF_MEMBER], total_count: 1 };

/** Assignments of guardrails. */
export const GUARDRAIL_ASSIGNMENT_EXAMPLES = {
  listKeyAssignments: { answer: KEY_LIST },
  listMemberAssignments: { answer: MEMBER_LIST },
  listGuardrailKeyAssignments: { params: BY_ID, answer: KEY_LIST },
  listGuardrailMemberAssignments: { params: BY_ID, answer: MEMBER_LIST },
  assignKeysToGuardrail: { params: BY_ID, body: KEYS, answer: { assigned_count: 1 } },
  removeKeysFromGuardrail: { params: BY_ID, body: KEYS, answer: { unassigned_count: 1 } },
  assignMembersToGuardrail: { params: BY_ID, body: MEMBERS, answer: { assigned_count: 1 } },
  removeMembersFromGuardrail: { params: BY_ID, body: MEMBERS, answer: { unassigned_count: 1 } },
} as const satisfies Record<string, RouteExample>;
