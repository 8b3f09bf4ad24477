import type { Endpoint, Pricing } from '../../catalog/catalog.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { dialectOf } from '../../dialects/lane.ts';
import type { AskedTool, HostedTools } from '../../dialects/shared/tools/hosted-tools.ts';
import { pricesIn, type ToolPrice, type ToolUnits } from '../../ir/hosted-use.ts';
import type { OutputItem } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Usage } from '../../ir/usage.ts';
import { MAX_HOSTED_CALLS } from '../../ir/usage-bounds.ts';

/** The tools that one endpoint may run for a request. */
export interface EndpointTools {
  readonly asked: readonly AskedTool[];
  /** True if one limit counts the calls of all tools. */
  readonly sharesLimit: boolean;
}

/** Tools of one request, by endpoint: dialects request them with different fields, and some have none. */
export type ToolsAsked = (endpoint: Pick<Endpoint, 'provider' | 'supportedParameters'>) => EndpointTools;

/** Most requests have none. */
export const NO_TOOLS: EndpointTools = { asked: [], sharesLimit: false };

/** Calls of a tool whose number the upstream does not let us limit. */
export const ASSUMED_CALLS = 10;

export function toolsAskedBy(request: GenerationRequest): ToolsAsked {
  return ({ provider, supportedParameters }) => {
    const rules = rulesOf(provider, request);
    const asked = rules?.asked(request, supportedParameters, provider.quirks.ownTools) ?? [];
    return asked.length === 0 ? NO_TOOLS : { asked, sharesLimit: rules?.sharesLimit === true };
  };
}

function rulesOf(provider: Endpoint['provider'], { format }: GenerationRequest): HostedTools | undefined {
  return DIALECTS[dialectOf(provider, format)].upstream.hosted;
}

/** Calls that can be limited, by what the request allows: infinite = no limit. */
function boundableCalls({ asked, sharesLimit }: EndpointTools): number {
  return asked.reduce((sum, { most, isBoundable }) => {
    if (!isBoundable) return sum;
    return sharesLimit ? Math.max(sum, most) : sum + most;
  }, 0);
}

/** Calls of all tools that the request allows: infinite = no limit. */
export function mostCalls(tools: EndpointTools): number {
  const others = tools.asked.reduce((sum, { most, isBoundable }) => (isBoundable ? sum : sum + most), 0);
  return boundableCalls(tools) + others;
}

/** Searches of the web that the request allows: infinite = no limit. */
export function mostSearches({ asked, sharesLimit }: EndpointTools): number {
  const searching = asked.filter(({ units }) => units?.web_search !== undefined);
  return boundableCalls({ asked: searching.map((tool) => ({ ...tool, isBoundable: true })), sharesLimit });
}

/** Calls to reserve for, if there is money enough. */
export function callsWanted(tools: EndpointTools): number {
  if (tools === NO_TOOLS) return 0;
  const most = boundableCalls(tools);
  const bounded = most === Number.POSITIVE_INFINITY ? ASSUMED_CALLS : most;
  return Math.min(Math.max(bounded, tools.asked.some(isFree) ? ASSUMED_CALLS : 0), MAX_HOSTED_CALLS);
}

/** Costs nothing but tokens, and takes no limit. */
function isFree({ units, isBoundable }: AskedTool): boolean {
  return !isBoundable && units !== undefined && pricesIn(units).length === 0;
}

export interface PaidCalls {
  /** All of them: each sends the prompt through the model once more. */
  readonly calls: number;
  /** The limit of calls that the request names to the upstream; undefined = it keeps to `calls` by itself. */
  readonly bound: number | undefined;
  /** Most units of each price. */
  readonly units: ToolUnits;
}

const NOTHING_PAID: PaidCalls = { calls: 0, bound: undefined, units: {} };

/** The calls that are paid for if `most` calls can be. */
export function paidCalls(tools: EndpointTools, most: number): PaidCalls {
  if (tools === NO_TOOLS) return NOTHING_PAID;
  const boundable = boundableCalls(tools);
  const bounded = Math.min(boundable, most);
  let calls = bounded;
  const units: Partial<Record<ToolPrice, number>> = {};
  for (const tool of tools.asked) {
    const own = tool.isBoundable
      ? Math.min(tool.most, bounded)
      : Math.min(tool.most, ASSUMED_CALLS, isFree(tool) ? most : ASSUMED_CALLS);
    if (!tool.isBoundable) calls += own;
    const times = tool.isOnce === true ? Math.min(own, 1) : own;
    for (const name of pricesIn(tool.units ?? {})) {
      units[name] = (units[name] ?? 0) + times * (tool.units?.[name] ?? 0);
    }
  }
  return { calls, bound: bounded < boundable ? bounded : undefined, units };
}

/** Tools for whose calls none of the prices has anything: what the upstream bills would be charged to no account. */
export function unpricedTools({ asked }: EndpointTools, prices: readonly Pricing[]): readonly string[] {
  if (asked.length === 0) return [];
  const names = asked.flatMap((tool): readonly string[] =>
    tool.units === undefined ? [tool.kind] : lackedBy(tool, prices),
  );
  return [...new Set(names)];
}

/** The types of the tools for whose calls none of the prices has anything. */
export function unpricedKinds({ asked }: EndpointTools, prices: readonly Pricing[]): readonly string[] {
  return asked
    .filter((tool) => tool.units === undefined || lackedBy(tool, prices).length > 0)
    .map(({ kind }) => kind);
}

function lackedBy({ units = {} }: AskedTool, prices: readonly Pricing[]): readonly ToolPrice[] {
  return pricesIn(units).filter((name) => prices.every((pricing) => pricing[name] === undefined));
}

export function withoutKinds(tools: EndpointTools, kinds: ReadonlySet<string>): EndpointTools {
  const asked = tools.asked.filter(({ kind }) => !kinds.has(kind));
  return asked.length === 0 ? NO_TOOLS : { ...tools, asked };
}

/** Types of tools of which it is not known what the upstream bills for them. */
export function unknownTools({ asked }: EndpointTools): readonly string[] {
  return asked.length === 0 ? [] : asked.flatMap(({ kind, units }) => (units === undefined ? [kind] : []));
}

// --- What they were -------------------------------------------------------------------------------------------------

/**
 * The usage with what the items of an answer show of the upstream's tools, as far as it does not say so itself.
 * Searches of the web are counted by their items only where the upstream has counted nothing.
 */
export function withToolsRun(
  usage: Usage,
  items: readonly OutputItem[],
  request: GenerationRequest,
  endpoint: Endpoint | undefined,
): Usage {
  const tools = endpoint === undefined ? NO_TOOLS : toolsAskedBy(request)(endpoint);
  if (endpoint === undefined || tools === NO_TOOLS) return usage;
  const run = rulesOf(endpoint.provider, request)?.run?.(items, tools.asked);
  const isUnsure = usage.hasNoSearchCount === true && mostSearches(tools) > 0;
  const shown = usage.source === 'measured' ? 0 : (run?.searches ?? 0);
  const hosted = { ...run?.hosted, ...usage.hosted };
  return {
    ...usage,
    webSearchRequests: Math.max(usage.webSearchRequests, shown, isUnsure ? 1 : 0),
    ...(pricesIn(hosted).length > 0 && { hosted }),
    ...(run !== undefined && run.calls > 0 && { hostedCalls: run.calls }),
  };
}

/** The usage without what no tool of the request could do. */
export function withAskedTools(usage: Usage, { asked }: EndpointTools): Usage {
  if (usage.hosted === undefined) return usage;
  const { hosted, ...rest } = usage;
  const isAsked = (name: ToolPrice) =>
    asked.some(({ units }) => units === undefined || units[name] !== undefined);
  const names = pricesIn(hosted).filter(isAsked);
  if (names.length === pricesIn(hosted).length) return usage;
  const kept = Object.fromEntries(names.map((name) => [name, hosted[name]]));
  return names.length === 0 ? rest : { ...rest, hosted: kept };
}
