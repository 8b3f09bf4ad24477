import { derivedUuid } from '../../kit/crypto/derived-uuid.ts';

/** The id of the guardrail that applies to all keys of a workspace, whether or not it is stored. */
export function workspaceGuardrailId(workspaceId: string): string {
  return derivedUuid(`default guardrail of ${workspaceId}`);
}

/** The id of the guardrail that applies to all keys of an account, whether or not it is stored. */
export function accountGuardrailId(accountId: string): string {
  return derivedUuid(`default guardrail of account ${accountId}`);
}
