import { pricingsUpTo } from '../../catalog/prices/price-history.ts';
import { mayBeServedBy } from '../../catalog/service-tier.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { objectsAt } from '../../kit/json/members.ts';
import type { Candidate, Rejection } from '../../routing/rules/candidate.ts';
import { NothingLeft, nothingLeftFor, type Plan } from '../plan/plan.ts';
import {
  NO_TOOLS,
  type ToolsAsked,
  toolsAskedBy,
  unpricedKinds,
  unpricedTools,
  withoutKinds,
} from './tools-asked.ts';

/** Name of the rule among those that reject endpoints. */
const FILTER = 'unpriced';

/** A plan whose endpoints have prices for all that they may bill. */
export interface PricedPlan {
  readonly plan: Plan;
  readonly toolsAsked: ToolsAsked;
  /** Types of tools that the upstreams do not get; undefined = they get all. */
  readonly withoutTools: ReadonlySet<string> | undefined;
}

/**
 * The plan without endpoints that would run tools for which they have no price: what these cost no limit could hold
 * back. If none is left, all serve the request without those tools, where it can do without: an agent that offers a
 * search beside its own tools can go on, one that asks for a search cannot. Throws NothingLeft if it cannot.
 */
export function withinPrices(plan: Plan, request: GenerationRequest, atMs: number): PricedPlan {
  const toolsAsked = toolsAskedBy(request);
  try {
    return { plan: withoutUnpriced(plan, toolsAsked, atMs), toolsAsked, withoutTools: undefined };
  } catch (error) {
    const withoutTools = error instanceof NothingLeft ? dispensable(plan, request, atMs) : undefined;
    if (withoutTools === undefined) throw error;
    const fewer: ToolsAsked = (endpoint) => withoutKinds(toolsAsked(endpoint), withoutTools);
    return { plan: withoutUnpriced(plan, fewer, atMs), toolsAsked: fewer, withoutTools };
  }
}

/** Fields that let the upstream run something, without which every request can go on. */
const DISPENSABLE_FIELDS: ReadonlySet<string> = new Set(['fallbacks']);

/** Unpriced fields of that kind, and types of unpriced tools that callers offer beside their own and do not choose. */
function dispensable(plan: Plan, request: GenerationRequest, atMs: number): ReadonlySet<string> | undefined {
  const toolsAsked = toolsAskedBy(request);
  const tools = mayGoWithout(request) ? objectsAt(request.body, 'tools') : [];
  const offered = new Set(tools.map(({ type }) => type));
  const kinds = plan.candidates
    .flatMap((candidate) => unpricedAt(candidate, toolsAsked, atMs, unpricedKinds))
    .filter((kind) => offered.has(kind) || DISPENSABLE_FIELDS.has(kind));
  return kinds.length === 0 ? undefined : new Set(kinds);
}

function mayGoWithout({ tools, toolChoice }: GenerationRequest): boolean {
  const own = new Set(tools.flatMap((tool) => (tool.type === 'hosted' ? [] : [tool.name])));
  if (own.size === 0 || toolChoice === undefined) return own.size > 0;
  if (toolChoice.mode === 'tool') return own.has(toolChoice.name);
  return toolChoice.mode !== 'hosted' && toolChoice.mode !== 'allowed';
}

function withoutUnpriced(plan: Plan, toolsAsked: ToolsAsked, atMs: number): Plan {
  let rejected: Rejection[] | undefined;
  const candidates = plan.candidates.filter((candidate) => {
    const names = unpricedAt(candidate, toolsAsked, atMs, unpricedTools);
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
  namesOf: typeof unpricedTools,
): readonly string[] {
  if (access.kind === 'byok' || (endpoint.servesUnpriced ?? endpoint.provider.servesUnpriced) === true)
    return NONE;
  const tools = toolsAsked(endpoint);
  if (tools === NO_TOOLS) return NONE;
  const lists = mayBeServedBy(endpoint, model).flatMap((served) => [
    ...pricingsUpTo(served, atMs, Number.POSITIVE_INFINITY),
  ]);
  return namesOf(tools, lists);
}

const NONE: readonly string[] = [];
