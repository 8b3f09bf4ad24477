import { pricingsUpTo } from '../../catalog/prices/price-history.ts';
import { mayBeServedBy } from '../../catalog/service-tier.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Candidate, Rejection } from '../../routing/rules/candidate.ts';
import { nothingLeftFor, type Plan } from '../plan/plan.ts';
import { NO_TOOLS, type ToolsAsked, toolsAskedBy, unpricedTools } from './tools-asked.ts';

/** Name of the rule among those that reject endpoints. */
const FILTER = 'unpriced';

/**
 * The plan without endpoints that would run tools for which they have no price: what these cost no limit could hold
 * back. The plan itself if there are none. Throws NothingLeft if no candidate is left.
 */
export function withoutUnpriced(plan: Plan, request: GenerationRequest, atMs: number): Plan {
  const toolsAsked = toolsAskedBy(request);
  let rejected: Rejection[] | undefined;
  const candidates = plan.candidates.filter((candidate) => {
    const names = unpricedAt(candidate, toolsAsked, atMs);
    if (names.length === 0) return true;
    rejected ??= [];
    rejected.push({ endpoint: candidate.endpoint, filter: FILTER, reason: reasonFor(names) });
    return false;
  });
  if (rejected === undefined) return plan;
  const left = { ...plan, candidates, rejected: [...plan.rejected, ...rejected] };
  if (candidates.length === 0) throw nothingLeftFor(left);
  return left;
}

function reasonFor(names: readonly string[]): string {
  return `bills ${names.join(', ')} and has no price for it, so that no limit could hold it back`;
}

/** Tools that the operator would pay for. With a BYOK credential they are on the bill of its owner. */
function unpricedAt(
  { endpoint, model, access }: Candidate,
  toolsAsked: ToolsAsked,
  atMs: number,
): readonly string[] {
  if (access.kind === 'byok' || (endpoint.servesUnpriced ?? endpoint.provider.servesUnpriced) === true)
    return NONE;
  const tools = toolsAsked(endpoint);
  if (tools === NO_TOOLS) return NONE;
  const lists = mayBeServedBy(endpoint, model).flatMap((served) => [
    ...pricingsUpTo(served, atMs, Number.POSITIVE_INFINITY),
  ]);
  return unpricedTools(tools, lists);
}

const NONE: readonly string[] = [];
