import type { Finish, Settled } from '../../ir/events.ts';
import { allSearches, type ModelUsage, NO_USAGE, tokenCount, type Usage } from '../../ir/usage.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { defineAll, objectsAt, textAt } from '../../kit/json/members.ts';
import type { ReplyContext } from '../dialect.ts';
import { type CostNames, costMembers } from '../shared/answers/cost-members.ts';

/** Token counts in both directions. `input_tokens` excludes cache reads and writes, which are counted separately. */

type Counter =
  | 'fresh'
  | 'cached'
  | 'written'
  | 'written5m'
  | 'written1h'
  | 'output'
  | 'reasoning'
  | 'searches';

/** Path of each count in a wire usage object. */
const PLACES: readonly (readonly [counter: Counter, field: string, member?: string])[] = [
  ['fresh', 'input_tokens'],
  ['cached', 'cache_read_input_tokens'],
  ['written', 'cache_creation_input_tokens'],
  ['written5m', 'cache_creation', 'ephemeral_5m_input_tokens'],
  ['written1h', 'cache_creation', 'ephemeral_1h_input_tokens'],
  ['output', 'output_tokens'],
  ['reasoning', 'output_tokens_details', 'thinking_tokens'],
  ['searches', 'server_tool_use', 'web_search_requests'],
];

/** Counts in an entry of `iterations`. */
const PASS_PLACES = PLACES.filter(([counter]) => counter !== 'reasoning' && counter !== 'searches');

const OF_PROMPT: ReadonlySet<Counter> = new Set(['fresh', 'cached', 'written', 'written5m', 'written1h']);
const PROMPT_PLACES = PLACES.filter(([counter]) => OF_PROMPT.has(counter));

/** Members of a usage object that have no counter and go back to this dialect only. */
const EXTRAS = ['inference_geo', 'server_tool_use', 'speed', 'iterations'] as const;

/** Collects the upstream's token counts, event by event. A later valid count wins. */
export class UsageMeter {
  readonly #counts: Partial<Record<Counter, number>> = {};
  /** What `iterations` adds to the counts. */
  #passes: Passes = NO_PASSES;
  readonly #extras: JsonObject = {};
  #serviceTier: string | undefined;
  #isOutputFinal = false;

  /** Reads a wire usage object; true if it had a count. `isOpening`: its output count is only an initial value. */
  see(usage: Json | undefined, isOpening = false): boolean {
    if (!isJsonObject(usage)) return false;
    let hasCount = false;
    const hasPrompt = PROMPT_PLACES.some(([, field, member]) => (countAt(usage, field, member) ?? 0) > 0);
    // Some servers send zeros at the end although they know no newer counts, mostly of the prompt alone.
    const isEmpty = this.#isOutputFinal && PLACES.every((place) => !countAt(usage, place[1], place[2]));
    for (const [counter, field, member] of PLACES) {
      const count = countAt(usage, field, member);
      if (count === undefined) continue;
      hasCount = true;
      if (OF_PROMPT.has(counter) ? hasPrompt : !isEmpty) this.#counts[counter] = count;
      else this.#counts[counter] ??= count;
      if (counter === 'output' && !isOpening) this.#isOutputFinal = true;
    }
    const passes = objectsAt(usage, 'iterations');
    if (passes.length > 0) this.#passes = passesOf(passes);
    for (const name of EXTRAS) {
      const extra = usage[name];
      if (extra !== null && extra !== undefined) this.#extras[name] = extra;
    }
    if (typeof usage.service_tier === 'string') this.#serviceTier = usage.service_tier;
    return hasCount;
  }

  /**
   * Undefined unless both sides are known: half a measurement must not pass for a whole one. The same applies to a
   * count from before the answer.
   *
   * The top-level counts are those of the answer, at the model that gave it: passes that were declined before a
   * fallback are in `iterations` alone, and not billed. They exclude passes that compact the context, which are billed
   * (Anthropic, Compaction, Understanding usage), and those of an advisor, which have prices of their own.
   */
  usage(): Usage | undefined {
    const { reasoning = 0, searches = 0 } = this.#counts;
    if (this.#counts.fresh === undefined || this.#counts.output === undefined) return undefined;
    const { answer, compacting, others, servedModel } = this.#passes;
    const counts = (counter: Counter) =>
      Math.max(this.#counts[counter] ?? 0, answer[counter] ?? 0) + (compacting[counter] ?? 0);
    const tokens = tokensOf(counts);
    return {
      ...NO_USAGE,
      ...tokens,
      reasoningTokens: Math.min(reasoning, tokens.outputTokens),
      webSearchRequests: searches,
      ...(others !== undefined && { others }),
      ...(servedModel !== undefined && { servedModel }),
      ...(this.#extras.inference_geo === 'us' && { isUsOnly: true }),
      source: this.#isOutputFinal ? 'measured' : 'estimated',
    };
  }

  serviceTier(): string | undefined {
    return this.#serviceTier === 'standard' ? 'default' : this.#serviceTier;
  }

  extras(): JsonObject {
    return withWholeToolUse(this.#extras);
  }
}

/** A usage object whose `server_tool_use`, if present, has every count that clients read. */
export function withWholeToolUse(usage: JsonObject): JsonObject {
  const uses = usage.server_tool_use;
  return isJsonObject(uses) ? { ...usage, server_tool_use: { ...NO_TOOL_USE, ...uses } } : usage;
}

const NO_TOOL_USE = { web_search_requests: 0, web_fetch_requests: 0 } as const;

// --- Passes ---------------------------------------------------------------------------------------------------------

type Counts = Partial<Record<Counter, number>>;

/** The entries of `iterations`, by what they mean. */
interface Passes {
  /** Passes of the answer, which the top level counts too. */
  readonly answer: Counts;
  /** Passes that compact the context, which the top level leaves out. */
  readonly compacting: Counts;
  /** Models that the upstream asked for advice. */
  readonly others?: readonly ModelUsage[];
  /** The model that answered after a fallback. */
  readonly servedModel?: string;
}

const NO_PASSES: Passes = { answer: {}, compacting: {} };

function passesOf(passes: readonly JsonObject[]): Passes {
  const ofType = (type: string) => passes.filter((pass) => pass.type === type);
  const served = ofType('fallback_message').at(-1);
  const others = ofType('advisor_message').map((pass): ModelUsage => {
    const counts = sumOf([pass]);
    const tokens = tokensOf((counter) => counts[counter] ?? 0);
    return { model: textAt(pass, 'model') ?? '', usage: { ...NO_USAGE, ...tokens, source: 'measured' } };
  });
  const servedModel = textAt(served, 'model');
  return {
    answer: served === undefined ? sumOf(ofType('message')) : {},
    compacting: sumOf(ofType('compaction')),
    ...(others.length > 0 && { others }),
    ...(servedModel !== undefined && { servedModel }),
  };
}

function tokensOf(
  counts: (counter: Counter) => number,
): Pick<Usage, 'inputTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'cacheWrite1hTokens' | 'outputTokens'> {
  const written1h = counts('written1h');
  const written = Math.max(counts('written'), counts('written5m') + written1h);
  return {
    inputTokens: counts('fresh') + counts('cached') + written,
    cachedTokens: counts('cached'),
    cacheWriteTokens: written - written1h,
    cacheWrite1hTokens: written1h,
    outputTokens: counts('output'),
  };
}

function sumOf(passes: readonly JsonObject[]): Partial<Record<Counter, number>> {
  const sums: Partial<Record<Counter, number>> = {};
  for (const [counter, field, member] of PASS_PLACES) {
    sums[counter] = passes.reduce((sum, pass) => sum + (countAt(pass, field, member) ?? 0), 0);
  }
  return sums;
}

function countAt(usage: JsonObject, field: string, member: string | undefined): number | undefined {
  const value = usage[field];
  if (member === undefined) return tokenCount(value);
  return isJsonObject(value) ? tokenCount(value[member]) : undefined;
}

/** The wire usage object of a message. `tier`: in the gateway's word. */
export function renderUsage(usage: Usage, tier: string): JsonObject {
  return inMessage(renderCounts(usage, tier));
}

/** The usage object of a message says where the model ran; that at the end of a stream has no such member. */
function inMessage(usage: JsonObject): JsonObject {
  return { inference_geo: null, ...usage };
}

function renderCounts(usage: Usage, tier: string): JsonObject {
  const written = usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cachedTokens - written),
    output_tokens: usage.outputTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens,
      ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
    },
    cache_creation_input_tokens: written,
    cache_read_input_tokens: usage.cachedTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use: toolUseOf(usage),
    service_tier: tier === 'default' ? 'standard' : tier,
  };
}

function toolUseOf(usage: Usage): JsonObject | null {
  const web_search_requests = allSearches(usage);
  const web_fetch_requests = usage.ownFetches ?? 0;
  if (web_search_requests + web_fetch_requests === 0) return null;
  return { ...NO_TOOL_USE, web_search_requests, web_fetch_requests };
}

const COST_NAMES: CostNames = {
  input: 'upstream_inference_prompt_cost',
  output: 'upstream_inference_completions_cost',
};

export function renderCost({ bill }: Settled): JsonObject {
  return costMembers(bill, COST_NAMES);
}

export function wholeUsage(
  context: ReplyContext,
  finish: Finish,
  usage: Usage | undefined,
  written?: JsonObject,
): JsonObject {
  return inMessage(finalUsage(context, finish, usage, written));
}

/** The final usage object of a stream: settled counts and cost over the upstream's other members. */
export function finalUsage(
  context: ReplyContext,
  finish: Finish,
  usage: Usage | undefined,
  written?: JsonObject,
): JsonObject {
  const counts = finish.settled?.usage ?? usage ?? NO_USAGE;
  const native = finish.ext?.messages?.usage;
  const rendered = renderCounts(counts, finish.serviceTier ?? context.serviceTier);
  const all = written === undefined ? rendered : { ...written, ...rendered };
  if (isJsonObject(native)) defineAll(all, native);
  return finish.settled === undefined ? all : Object.assign(all, renderCost(finish.settled));
}
