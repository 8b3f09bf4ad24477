import type { HostedPrice, HostedUse } from '../../../ir/hosted-use.ts';
import { tokenCount, type Usage } from '../../../ir/usage.ts';
import type { Json, JsonObject } from '../../../kit/json/json.ts';
import { objectAt } from '../../../kit/json/members.ts';

type OptionalCount = 'audioTokens' | 'cachedAudioTokens' | 'inputImageTokens' | 'audioOutputTokens';

/** Counts that most answers do not have: those that are there and above zero; undefined = none. */
export function optionalCounts(
  counts: Readonly<Record<OptionalCount, Json | undefined>>,
): Pick<Usage, OptionalCount> | undefined {
  let found: Partial<Record<OptionalCount, number>> | undefined;
  for (const name in counts) {
    const count = tokenCount(counts[name as OptionalCount]) ?? 0;
    if (count === 0) continue;
    found ??= {};
    found[name as OptionalCount] = count;
  }
  return found;
}

/** Members of `server_side_tool_usage_details` with a price (xAI, Tools, Usage). */
const XAI_CALLS: readonly (readonly [member: string, price: HostedPrice])[] = [
  ['x_search_calls', 'x_search'],
  ['code_interpreter_calls', 'code_execution'],
  ['file_search_calls', 'file_search'],
  ['document_search_calls', 'file_search'],
];

/** Calls of tools in a usage object of xAI; undefined = it says nothing of them. */
export function xaiToolCalls(
  usage: JsonObject,
): { readonly searches: number | undefined; readonly hosted: HostedUse } | undefined {
  const calls =
    objectAt(usage, 'server_side_tool_usage_details') ?? objectAt(usage, 'server_side_tool_usage');
  if (calls === undefined) return undefined;
  const hosted: Partial<Record<HostedPrice, number>> = {};
  for (const [member, price] of XAI_CALLS) {
    const count = tokenCount(calls[member]) ?? 0;
    if (count > 0) hosted[price] = (hosted[price] ?? 0) + count;
  }
  return { searches: tokenCount(calls.web_search_calls), hosted };
}
