import type { GenerationRequest } from '../../ir/request.ts';
import type { Caller } from '../../ports/caller.ts';
import { demandsZeroRetention } from '../../routing/rules/guardrail-rules.ts';
import { preferencesOf } from '../../routing/rules/preferences.ts';

/** True if nothing of a generation may be kept: the request or a guardrail of its caller demands zero retention. */
export function mustKeepNothing(
  request: GenerationRequest,
  { guardrails }: Pick<Caller, 'guardrails'>,
): boolean {
  if (preferencesOf(request).requiresZeroRetention) return true;
  return guardrails.length > 0 && demandsZeroRetention(guardrails, request.models);
}
