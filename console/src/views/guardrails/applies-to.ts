import type { GuardrailObject } from '../../api/contract.ts';
import { counted } from '../../format/numbers.ts';

type Applied = Pick<GuardrailObject, 'default_of' | 'assigned_keys' | 'assigned_members'>;

/** What a guardrail applies to, in words; undefined = nothing. `workspace`: the name of its workspace. */
export function appliesTo(
  { default_of: of, assigned_keys: keys = 0, assigned_members: members = 0 }: Applied,
  workspace: string,
): string | undefined {
  const parts = [
    ...(of === 'account' ? ['all keys of the account'] : []),
    ...(of === 'workspace' ? [`all keys of ${workspace}`] : []),
    ...(keys > 0 ? [counted(keys, 'key')] : []),
    ...(members > 0 ? [counted(members, 'member')] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
