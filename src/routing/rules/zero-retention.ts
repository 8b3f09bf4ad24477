import type { GenerationRequest } from '../../ir/request.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import { demandsZeroRetention } from './guardrail-rules.ts';
import { preferencesOf } from './preferences.ts';

/**
 * True if nothing of a generation may be kept: the request or a guardrail of its caller demands zero retention.
 * `models`: ids of the models that answer, because a request may name a router or an alias.
 */
export function mustKeepNothing(
  request: GenerationRequest,
  { guardrails }: Pick<Caller, 'guardrails'>,
  models: () => readonly string[],
): boolean {
  if (preferencesOf(request).requiresZeroRetention) return true;
  return guardrails.length > 0 && demandsZeroRetention(guardrails, [...request.models, ...models()]);
}
