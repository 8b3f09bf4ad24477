import { newGuardrail } from '../../../src/manage/guardrails/new-guardrail.ts';
import type {
  AppliedGuardrail,
  BuiltinFilter,
  CustomFilter,
  Guardrail,
  GuardrailAssignment,
  GuardrailScope,
} from '../../../src/ports/tenancy/guardrails.ts';

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

/** The filters for personal data, redacting. */
export const REDACTING_BUILTINS = (['email', 'phone', 'ssn', 'credit-card', 'ip-address'] as const).map(
  (slug) => ({
    slug,
    action: 'redact' as const,
  }),
);

/** A guardrail that applies, with nothing in it but these filters. */
export function appliedFilters(given: {
  readonly id?: string;
  readonly scope?: GuardrailScope;
  readonly builtins?: readonly (Omit<BuiltinFilter, 'scanScope'> & Partial<BuiltinFilter>)[];
  readonly filters?: readonly CustomFilter[];
}): AppliedGuardrail {
  const { id = 'guardrail', scope = 'api-key', builtins = [], filters = [] } = given;
  const complete = builtins.map((builtin) => ({ scanScope: 'all_messages' as const, ...builtin }));
  return { guardrail: guardrailOf({ id, builtins: complete, filters }), scope };
}
