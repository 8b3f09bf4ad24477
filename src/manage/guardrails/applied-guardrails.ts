import { accountGuardrailId, workspaceGuardrailId } from '../../contract/guardrails/default-guardrail-ids.ts';
import {
  type AppliedGuardrail,
  type Guardrail,
  type GuardrailAssignment,
  type GuardrailScope,
  NO_GUARDRAILS,
} from '../../ports/tenancy/guardrails.ts';
import type { Key } from '../../ports/tenancy/tenancy.ts';

/**
 * The guardrails that apply to a key, the widest scope first: the defaults of its account and workspace, that of the
 * member who created it, and its own.
 */
export function appliedGuardrails(
  { accountId, workspaceId }: Pick<Key, 'accountId' | 'workspaceId'>,
  guardrails: readonly Guardrail[],
  assignments: readonly GuardrailAssignment[],
): readonly AppliedGuardrail[] {
  const byId = new Map(guardrails.map((guardrail) => [guardrail.id, guardrail]));
  const assigned = (kind: GuardrailAssignment['kind']) =>
    assignments.find((assignment) => assignment.kind === kind)?.guardrailId;
  const places: readonly (readonly [GuardrailScope, string | undefined])[] = [
    ['account', accountGuardrailId(accountId)],
    ['workspace', workspaceGuardrailId(workspaceId)],
    ['member', assigned('member')],
    ['api-key', assigned('key')],
  ];
  const applied = places.flatMap(([scope, id]) => {
    const guardrail = id === undefined ? undefined : byId.get(id);
    return guardrail === undefined ? [] : [{ guardrail, scope }];
  });
  return applied.length === 0 ? NO_GUARDRAILS : applied;
}
