import type { Settled } from '../../ir/events.ts';
import { pricesIn } from '../../ir/hosted-use.ts';
import { tokenCount, type Usage } from '../../ir/usage.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsAt } from '../../kit/json/members.ts';
import { type CostNames, costMembers } from '../shared/answers/cost-members.ts';
import { optionalCounts, xaiToolCalls } from '../shared/answers/optional-counts.ts';
import { toolUseDetails } from '../shared/answers/tool-use-details.ts';

/** Token counts in both directions. */

/** The usage object of a body or chunk, at any of the places that upstreams use. */
export function usageObjectIn(chunk: JsonObject): JsonObject | undefined {
  return (
    objectAt(chunk, 'usage') ??
    objectAt(objectAt(chunk, 'x_groq'), 'usage') ??
    objectAt(objectsAt(chunk, 'choices')[0], 'usage')
  );
}

/**
 * Reads a usage object; undefined if its main counts are missing or implausible. `searched`: the request has the
 * upstream search, so that a count of searches is missed.
 */
export function readUsage(usage: JsonObject, searched = false): Usage | undefined {
  const total = tokenCount(usage.total_tokens);
  const prompt = tokenCount(usage.prompt_tokens);
  const completion = tokenCount(usage.completion_tokens);
  const input = prompt ?? difference(total, completion);
  const written = completion ?? difference(total, prompt);
  if (input === undefined || written === undefined) return undefined;
  const promptDetails = objectAt(usage, 'prompt_tokens_details') ?? {};
  const details = objectAt(usage, 'completion_tokens_details') ?? {};
  const thought = tokenCount(details.reasoning_tokens) ?? tokenCount(usage.reasoning_tokens) ?? 0;
  const output = withThoughts(input, written, thought, total);
  const cached = firstCount(
    promptDetails.cached_tokens,
    usage.prompt_cache_hit_tokens,
    usage.cache_read_input_tokens,
  );
  const cacheWritten = firstCount(promptDetails.cache_write_tokens, usage.cache_creation_input_tokens);
  const searches = searchesIn(usage);
  return {
    inputTokens: input,
    cachedTokens: Math.min(cached, input),
    cacheWriteTokens: Math.min(cacheWritten, input - Math.min(cached, input)),
    cacheWrite1hTokens: 0,
    outputTokens: output,
    reasoningTokens: Math.min(thought, output),
    imageTokens: Math.min(firstCount(details.image_tokens), output),
    webSearchRequests: searches ?? 0,
    ...(searched && searches === undefined && { hasNoSearchCount: true }),
    ...optionalCounts({
      audioTokens: promptDetails.audio_tokens,
      cachedAudioTokens: objectAt(promptDetails, 'cached_tokens_details')?.audio_tokens,
      inputImageTokens: promptDetails.image_tokens,
      audioOutputTokens: details.audio_tokens,
    }),
    ...hostedIn(usage),
    // The difference of two counts is not a measurement.
    source: prompt === undefined || completion === undefined ? 'estimated' : 'measured',
  };
}

/** Searches, by whatever name the provider counts them; undefined = it does not. */
function searchesIn(usage: JsonObject): number | undefined {
  return (
    tokenCount(objectAt(usage, 'server_tool_use_details')?.web_search_requests) ??
    tokenCount(objectAt(usage, 'server_tool_use')?.web_search_requests) ??
    xaiToolCalls(usage)?.searches ??
    tokenCount(usage.num_search_queries) ??
    tokenCount(usage.num_sources_used) ??
    tokenCount(usage.search_count) ??
    tokenCount(usage.web_search_requests)
  );
}

function hostedIn(usage: JsonObject): Pick<Usage, 'hosted'> | undefined {
  const hosted = xaiToolCalls(usage)?.hosted;
  return hosted === undefined || pricesIn(hosted).length === 0 ? undefined : { hosted };
}

function difference(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || part > total ? undefined : total - part;
}

/**
 * Some upstreams exclude thoughts from the completion count; the total shows it, or more thoughts than completion
 * tokens.
 */
function withThoughts(input: number, written: number, thought: number, total: number | undefined): number {
  const isApart =
    total === undefined ? thought > written : thought > 0 && total === input + written + thought;
  return isApart ? written + thought : written;
}

function firstCount(first: unknown, second?: unknown, third?: unknown): number {
  return tokenCount(first) ?? tokenCount(second) ?? tokenCount(third) ?? 0;
}

const COST_NAMES: CostNames = {
  input: 'upstream_inference_prompt_cost',
  output: 'upstream_inference_completions_cost',
};

/** Writes usage and cost, over members that only the upstream's own usage has. */
export function renderUsage(
  { usage, bill }: Pick<Settled, 'usage' | 'bill'>,
  upstream?: JsonObject,
): JsonObject {
  const members: JsonObject = {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: over(objectAt(upstream, 'prompt_tokens_details'), {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    }),
    completion_tokens_details: over(objectAt(upstream, 'completion_tokens_details'), {
      reasoning_tokens: usage.reasoningTokens,
      image_tokens: usage.imageTokens,
    }),
    ...costMembers(bill, COST_NAMES),
  };
  const details = toolUseDetails(usage);
  if (details !== undefined) members.server_tool_use_details = details;
  return over(upstream, members);
}

/** Our members, plus members only the upstream sent. Mostly there are none, and nothing is copied. */
function over(upstream: JsonObject | undefined, members: JsonObject): JsonObject {
  for (const name in upstream) if (!Object.hasOwn(members, name)) return { ...upstream, ...members };
  return members;
}
