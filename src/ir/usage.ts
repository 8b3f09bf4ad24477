import { type Nanos, type Price, restOf, restToNanos } from '../kit/money.ts';
import { type HostedUse, plusHosted } from './hosted-use.ts';

/** Where the numbers of a usage record come from: the upstream said so, we counted, or nothing is known. */
export type UsageSource = 'measured' | 'estimated' | 'none';

/** Tokens of one generation. Counts are whole numbers >= 0. */
export interface Usage {
  /** All prompt tokens: cached, cache-written and fresh ones together. */
  readonly inputTokens: number;
  /** Prompt tokens read from the upstream's cache; part of `inputTokens`. */
  readonly cachedTokens: number;
  /** Prompt tokens written to the upstream's five-minute cache; part of `inputTokens`. */
  readonly cacheWriteTokens: number;
  /** Prompt tokens written to the upstream's one-hour cache; part of `inputTokens`. */
  readonly cacheWrite1hTokens: number;
  /** All completion tokens, reasoning included. */
  readonly outputTokens: number;
  /** Reasoning tokens; part of `outputTokens`. */
  readonly reasoningTokens: number;
  /** Completion tokens that are image data; part of `outputTokens`. */
  readonly imageTokens: number;
  /** Searches that the upstream itself ran. */
  readonly webSearchRequests: number;
  /** The request has the upstream search, and the upstream does not say how often it did. */
  readonly hasNoSearchCount?: true;
  /** Prompt tokens that are sound; part of `inputTokens`. Absent = none, as are the next four. */
  readonly audioTokens?: number;
  /** Sound that was read from a cache; part of `audioTokens` and of `cachedTokens`. */
  readonly cachedAudioTokens?: number;
  /** Prompt tokens that are pictures; part of `inputTokens`. */
  readonly inputImageTokens?: number;
  /** Completion tokens that are sound; part of `outputTokens`. */
  readonly audioOutputTokens?: number;
  /** What the upstream did with further tools that it runs, by price. */
  readonly hosted?: HostedUse;
  /** Calls of all tools that the upstream ran, as the items of its answer show; absent = none. */
  readonly hostedCalls?: number;
  /** The upstream says that it kept all of it in the United States, which has a price of its own. */
  readonly isUsOnly?: true;
  /** The upstream's name of the model that answered, if the upstream fell back to another by itself. */
  readonly servedModel?: string;
  /** What the upstream asked other models by itself: in no other count, and of their own prices. */
  readonly others?: readonly ModelUsage[];
  /** Calls of server tools; absent = none. They are not billed as tokens. */
  readonly toolCalls?: ToolCallCounts;
  /** Searches that the gateway ran, for plugins and tools; absent = none. */
  readonly ownSearches?: number;
  /** Pages that the gateway fetched, for plugins and tools; absent = none. */
  readonly ownFetches?: number;
  readonly source: UsageSource;
}

/** Tokens of a model that an upstream asked, by the upstream's name of it. */
export interface ModelUsage {
  readonly model: string;
  readonly usage: Usage;
}

export interface ToolCallCounts {
  readonly requested: number;
  readonly executed: number;
}

/** Searches of the upstream and of the gateway. */
export function allSearches({ webSearchRequests, ownSearches = 0 }: Usage): number {
  return webSearchRequests + ownSearches;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  imageTokens: 0,
  webSearchRequests: 0,
  source: 'none',
};

/**
 * Both together. What was estimated on one side is an estimate of the whole; a side of which nothing is known adds
 * nothing.
 */
export function plusUsage(one: Usage, other: Usage): Usage {
  if (one.source === 'none') return other;
  if (other.source === 'none') return one;
  const hosted = plusHosted(one.hosted, other.hosted);
  return {
    ...optionalSums(one, other),
    ...(hosted !== undefined && { hosted }),
    ...(one.others !== undefined || other.others !== undefined
      ? { others: [...(one.others ?? []), ...(other.others ?? [])] }
      : undefined),
    inputTokens: one.inputTokens + other.inputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    cacheWrite1hTokens: one.cacheWrite1hTokens + other.cacheWrite1hTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    imageTokens: one.imageTokens + other.imageTokens,
    webSearchRequests: one.webSearchRequests + other.webSearchRequests,
    source: one.source === 'measured' && other.source === 'measured' ? 'measured' : 'estimated',
  };
}

/** Counts that most usages do not have. */
const OPTIONAL_COUNTS = [
  'audioTokens',
  'cachedAudioTokens',
  'inputImageTokens',
  'audioOutputTokens',
  'hostedCalls',
] as const;

function optionalSums(one: Usage, other: Usage): Partial<Usage> | undefined {
  let sums: Partial<Record<(typeof OPTIONAL_COUNTS)[number], number>> | undefined;
  for (const name of OPTIONAL_COUNTS) {
    if (one[name] === undefined && other[name] === undefined) continue;
    sums ??= {};
    sums[name] = (one[name] ?? 0) + (other[name] ?? 0);
  }
  return sums;
}

export interface Bill {
  /** Charged to the caller. */
  readonly totalNanos: Nanos;
  /** Prompt side of the upstream's price. */
  readonly inputNanos: Nanos;
  /** Completion side of the upstream's price. */
  readonly outputNanos: Nanos;
  readonly isByok: boolean;
  /** What rounding took off `totalNanos`, in units of `Price`; negative if it added. Absent = nothing. */
  readonly rest?: Price;
}

/** Both together, rounded once. */
export function plusBill(one: Bill, other: Bill): Bill {
  const sum = {
    totalNanos: one.totalNanos + other.totalNanos,
    inputNanos: one.inputNanos + other.inputNanos,
    outputNanos: one.outputNanos + other.outputNanos,
    isByok: one.isByok || other.isByok,
  };
  if (one.rest === undefined && other.rest === undefined) return sum;
  const rests = (one.rest ?? 0n) + (other.rest ?? 0n);
  const carried = restToNanos(rests);
  return {
    ...sum,
    totalNanos: sum.totalNanos + carried,
    outputNanos: sum.outputNanos + carried,
    rest: restOf(rests, carried),
  };
}

/** A token count as an upstream wrote it: a whole number >= 0 within reason, else undefined. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000_000
    ? value
    : undefined;
}

/**
 * What holds after a later report of the same answer. Some servers send zeros at the end although they know no newer
 * counts: a report without tokens adds to what tools did, and takes no tokens back.
 */
export function laterUsage(earlier: Usage | undefined, later: Usage): Usage {
  if (earlier === undefined || later.inputTokens + later.outputTokens > 0) return later;
  const { webSearchRequests, hosted = earlier.hosted } = later;
  return {
    ...earlier,
    webSearchRequests: Math.max(earlier.webSearchRequests, webSearchRequests),
    ...(hosted !== undefined && { hosted }),
  };
}

/** True when both counts are there and say the same. */
export function isSameUsage(one: Usage | undefined, other: Usage): boolean {
  return (
    one !== undefined && (Object.keys(other) as (keyof Usage)[]).every((name) => one[name] === other[name])
  );
}
