import { type HostedPrice, type HostedUse, pricesIn } from './hosted-use.ts';
import type { Usage } from './usage.ts';

/** Facts about a generation that its upstream does not count; undefined = not known. */
export interface UsageBounds {
  /** Tokens that the endpoint's context holds. */
  readonly contextLength: number | undefined;
  /** Tokens that the endpoint writes at most. */
  readonly maxOutputTokens: number | undefined;
  /**
   * Characters of the prompt, all that is sent; undefined when it holds media, whose tokens are not in its
   * characters.
   */
  readonly promptCharacters: number | undefined;
  /** Searches that the request lets the upstream run: 0 = none, infinite = as many as it likes. */
  readonly searches: number;
  /** Calls of tools that the request lets the upstream run, searches included; infinite = as many as it likes. */
  readonly toolCalls: number;
  /** The request lets the upstream compact the context: before each pass of the model, by one more. */
  readonly mayCompact: boolean;
  /** Calls of other models that the request lets the upstream make: 0 = none. */
  readonly modelCalls: number;
  /** The request lets the upstream answer by another model. */
  readonly mayFallBack: boolean;
}

/** Calls of tools that an upstream makes in one answer at most, whatever the request allows. */
export const MAX_HOSTED_CALLS = 100;

/** Units of an answer with as many calls of the dearest kind: containers of 64 GB, pictures of the largest size. */
const MOST_HOSTED: Readonly<Record<HostedPrice, number>> = {
  x_search: MAX_HOSTED_CALLS,
  file_search: MAX_HOSTED_CALLS,
  code_execution: MAX_HOSTED_CALLS * 64,
  image_generation: MAX_HOSTED_CALLS * 60_000,
  image_generation_input: MAX_HOSTED_CALLS * 60_000,
};

/** An upstream that keeps to no limit of calls is taken to make so many times as many. */
const FURTHER = 10;

/** Most tokens that the result of one call adds to the prompt. */
const MAX_RESULT_TOKENS = 200_000;

/** What the catalogue says about an endpoint may be behind: counts may be so many times as high. */
const CATALOGUE_SLACK = 2;

/** Context of endpoints that nothing is known of, tokens. */
const MAX_CONTEXT_TOKENS = 2_097_152;

const LARGEST_CONTEXT_TOKENS = 10_485_760;

/** Bytes of a character in UTF-8, each a token at the worst. */
const TOKENS_PER_CHARACTER = 3;

/** Tokens that upstreams put around a prompt: roles, tools of their own, their own instructions. */
const UNSEEN_TOKENS = 50_000;

/**
 * The counts as far as they can be true; undefined where they cannot, and are to be treated like counts that were not
 * reported. Searches beyond those that were asked for are not counted.
 */
export function plausible(usage: Usage, bounds: UsageBounds): Usage | undefined {
  const webSearchRequests = searchesOf(usage, bounds);
  if (!isPlausible(usage, bounds, roundsOf(usage, bounds))) return undefined;
  const asked =
    usage.others === undefined && usage.servedModel === undefined ? usage : ofModels(usage, bounds);
  const hosted = withinMost(asked.hosted);
  const bounded = hosted === undefined || hosted === asked.hosted ? asked : { ...asked, hosted };
  return webSearchRequests === usage.webSearchRequests ? bounded : { ...bounded, webSearchRequests };
}

/**
 * False for counts of which no model is capable, whatever the catalogue says of it: such a report is as good as none.
 * An upstream may well bill one that is not plausible, because the catalogue is behind.
 */
export function isConceivable(usage: Usage, bounds: UsageBounds): boolean {
  const { hosted = {}, others = [] } = usage;
  const most = mostTokensOf(bounds, roundsOf(usage, bounds));
  const mostOfOthers = mostTokensOf(bounds, 1);
  return (
    isWithin(usage, most) &&
    usage.webSearchRequests <= MAX_HOSTED_CALLS * FURTHER &&
    pricesIn(hosted).every((name) => (hosted[name] ?? 0) <= MOST_HOSTED[name] * FURTHER) &&
    others.length <= MAX_HOSTED_CALLS &&
    others.every((other) => isWithin(other.usage, mostOfOthers))
  );
}

function isWithin({ inputTokens, outputTokens }: Usage, most: number): boolean {
  return inputTokens <= most && outputTokens <= most;
}

function mostTokensOf({ contextLength = 0 }: UsageBounds, rounds: number): number {
  return Math.max(contextLength * CATALOGUE_SLACK, LARGEST_CONTEXT_TOKENS) * rounds;
}

function searchesOf({ webSearchRequests }: Usage, { searches }: UsageBounds): number {
  return Math.min(webSearchRequests, searches, MAX_HOSTED_CALLS);
}

/** How often the context goes through the model: for each call of a tool, and for each compaction, once more. */
function roundsOf(usage: Usage, bounds: UsageBounds): number {
  const calls = Math.min(usage.hostedCalls ?? 0, bounds.toolCalls, MAX_HOSTED_CALLS);
  return (1 + Math.max(searchesOf(usage, bounds), calls)) * (bounds.mayCompact ? 2 : 1);
}

/** The units that one answer can have of each price; the same object if none was beyond. */
function withinMost(hosted: HostedUse | undefined): HostedUse | undefined {
  if (hosted === undefined) return undefined;
  const names = pricesIn(hosted);
  if (names.every((name) => (hosted[name] ?? 0) <= MOST_HOSTED[name])) return hosted;
  return Object.fromEntries(names.map((name) => [name, Math.min(hosted[name] ?? 0, MOST_HOSTED[name])]));
}

/** The usage without models that the request has not asked for, and without passes that cannot be true. */
function ofModels(usage: Usage, bounds: UsageBounds): Usage {
  const { others = [], servedModel, ...rest } = usage;
  const most = Math.min(bounds.modelCalls, MAX_HOSTED_CALLS);
  const believed = others.filter((other) => isPlausible(other.usage, bounds, 1)).slice(0, most);
  const mayBeServed = servedModel === undefined || bounds.mayFallBack;
  if (mayBeServed && believed.length === others.length) return usage;
  return {
    ...rest,
    ...(believed.length > 0 && { others: believed }),
    ...(servedModel !== undefined && mayBeServed && { servedModel }),
  };
}

/**
 * No prompt is larger than the context, nor far larger than its characters, and no answer larger than what the endpoint
 * writes. `rounds`: how often the context goes through the model, once more for each call of a tool that the upstream
 * runs and for each compaction.
 */
function isPlausible(usage: Usage, bounds: UsageBounds, rounds: number): boolean {
  const { contextLength = MAX_CONTEXT_TOKENS, promptCharacters } = bounds;
  const { maxOutputTokens = contextLength } = bounds;
  const ofText =
    promptCharacters === undefined
      ? Number.POSITIVE_INFINITY
      : (promptCharacters * TOKENS_PER_CHARACTER + UNSEEN_TOKENS) * rounds + MAX_RESULT_TOKENS * (rounds - 1);
  const mostInput = Math.min(contextLength * CATALOGUE_SLACK * rounds, ofText);
  const mostOutput = maxOutputTokens * CATALOGUE_SLACK * rounds;
  return usage.inputTokens <= mostInput && usage.outputTokens <= mostOutput;
}
