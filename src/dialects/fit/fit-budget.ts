import { conversationForm } from '../../ir/format-facts.ts';
import { NO_ENTRIES } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { DialectFacts } from '../dialect-facts.ts';
import { budgetOf } from '../shared/reasoning/reasoning-effort.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/**
 * Lowers a budget for thoughts that exceeds the output limit. Only upstreams with betas, those of Claude, take such a
 * budget; for others it must leave room for an answer.
 */
export function fitBudget(request: GenerationRequest, { betaCarrier }: DialectFacts): FittedRequest {
  const { mayThinkBeyondLimit, reasoning, requestedOutputTokens: limit } = request;
  const budget = reasoning?.budgetTokens;
  const fits = budget === undefined || limit === undefined || budget < limit;
  if (mayThinkBeyondLimit !== true || betaCarrier !== undefined || fits)
    return { request, report: NO_ENTRIES };
  const budgetTokens = Math.min(budgetOf('max', limit), limit - 1);
  const field = conversationForm(request.formatFacts).reasoning.places.budgetTokens;
  return {
    request: { ...request, reasoning: { ...reasoning, budgetTokens } },
    report: [{ field, action: 'coerced', detail: `lowered to ${budgetTokens}, below the output limit` }],
  };
}
