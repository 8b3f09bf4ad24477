import { type HostedUse, pricesIn } from '../../ir/hosted-use.ts';
import { type Bill, tokenCount, type Usage } from '../../ir/usage.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, objectsAt } from '../../kit/json/members.ts';
import { type CostNames, costMembers } from '../shared/answers/cost-members.ts';
import { optionalCounts, xaiToolCalls } from '../shared/answers/optional-counts.ts';
import { toolUseDetails } from '../shared/answers/tool-use-details.ts';
import { isSearchCall } from './hosted-tools.ts';

/** Reads the token counts of a response object; undefined if they are missing or implausible. */
export function readUsage(response: JsonObject): Usage | undefined {
  const usage = objectAt(response, 'usage');
  const inputTokens = tokenCount(usage?.input_tokens);
  const outputTokens = tokenCount(usage?.output_tokens);
  if (usage === undefined || inputTokens === undefined || outputTokens === undefined) return undefined;
  const input = objectAt(usage, 'input_tokens_details') ?? {};
  const output = objectAt(usage, 'output_tokens_details') ?? {};
  const cachedTokens = Math.min(tokenCount(input.cached_tokens) ?? 0, inputTokens);
  const written = Math.min(tokenCount(input.cache_write_tokens) ?? 0, inputTokens - cachedTokens);
  // Written for twelve hours: at the price of long-lived writes.
  const kept = tokenCount(objectAt(input, 'cache_write_tokens_details')?.ttl_12h_tokens) ?? 0;
  const writtenLong = Math.min(kept, written);
  return {
    inputTokens,
    cachedTokens,
    cacheWriteTokens: written - writtenLong,
    cacheWrite1hTokens: writtenLong,
    outputTokens,
    reasoningTokens: Math.min(tokenCount(output.reasoning_tokens) ?? 0, outputTokens),
    imageTokens: Math.min(tokenCount(output.image_tokens) ?? 0, outputTokens),
    webSearchRequests: readSearches(response, usage),
    ...optionalCounts({
      audioTokens: input.audio_tokens,
      cachedAudioTokens: objectAt(input, 'cached_tokens_details')?.audio_tokens,
      inputImageTokens: input.image_tokens,
      audioOutputTokens: output.audio_tokens,
    }),
    ...readHosted(response, usage),
    source: 'measured',
  };
}

/** Searches that the upstream ran: its own count, else the search items of the answer. */
function readSearches(response: JsonObject, usage: JsonObject): number {
  const reported = objectAt(usage, 'server_tool_use_details')?.web_search_requests;
  const counted = objectAt(objectAt(response, 'tool_usage') ?? {}, 'web_search')?.num_requests;
  const items = objectsAt(response, 'output').filter(isSearchCall);
  return tokenCount(reported) ?? xaiToolCalls(usage)?.searches ?? (tokenCount(counted) || items.length);
}

/** What the upstream says of its other tools; the items of the answer say the rest. */
function readHosted(response: JsonObject, usage: JsonObject): Pick<Usage, 'hosted'> | undefined {
  const drawn = objectAt(objectAt(response, 'tool_usage'), 'image_gen');
  const output = tokenCount(drawn?.output_tokens) ?? 0;
  const hosted: HostedUse = {
    ...xaiToolCalls(usage)?.hosted,
    ...(output > 0 && {
      image_generation: output,
      image_generation_input: tokenCount(drawn?.input_tokens) ?? 0,
    }),
  };
  return pricesIn(hosted).length === 0 ? undefined : { hosted };
}

const COST_NAMES: CostNames = {
  input: 'upstream_inference_input_cost',
  output: 'upstream_inference_output_cost',
};

export function renderUsage(usage: Usage, bill: Bill | undefined): JsonObject {
  return compact({
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
    ...(bill !== undefined && costMembers(bill, COST_NAMES)),
    server_tool_use_details: toolUseDetails(usage),
  });
}
