import { newGuardrail } from '../../src/manage/guardrails/new-guardrail.ts';
import type { Guardrail, GuardrailAssignment } from '../../src/ports/guardrails.ts';

/** A guardrail that restricts nothing. */
export function guardrailOf(more: Partial<Guardrail> = {}): Guardrail {
  return newGuardrail({
    id: 'guardrail',
    accountId: 'account',
    workspaceId: 'workspace',
    name: 'a guardrail',
    createdAtMs: 1,
    ...more,
  });
}

/** An assignment of `guardrailOf()` to a key. */
export function assignmentOf(more: Partial<GuardrailAssignment> = {}): GuardrailAssignment {
  return {
    id: 'assignment',
    guardrailId: 'guardrail',
    accountId: 'account',
    kind: 'key',
    subject: 'a'.repeat(64),
    assignedBy: null,
    createdAtMs: 1,
    fileMember: null,
    ...more,
  };
}
