import { allSearches, type Usage } from '../../../ir/usage.ts';
import type { JsonObject } from '../../../kit/json/json.ts';

/** `server_tool_use_details` of a usage object; undefined = no tools were used. */
export function toolUseDetails(usage: Usage): JsonObject | undefined {
  const searches = allSearches(usage);
  const { toolCalls } = usage;
  if (searches === 0 && toolCalls === undefined) return undefined;
  return {
    web_search_requests: searches,
    ...(toolCalls !== undefined && {
      tool_calls_requested: toolCalls.requested,
      tool_calls_executed: toolCalls.executed,
    }),
  };
}
