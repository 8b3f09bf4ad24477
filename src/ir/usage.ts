import type { Nanos } from '../kit/money.ts';

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
  readonly source: UsageSource;
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

/** What a generation cost, in nano-dollars. */
export interface Bill {
  /** Charged to the caller. */
  readonly totalNanos: Nanos;
  /** Prompt side of the upstream's price. */
  readonly inputNanos: Nanos;
  /** Completion side of the upstream's price. */
  readonly outputNanos: Nanos;
  /** Served with the caller's own credential. */
  readonly isByok: boolean;
}

/** A token count as an upstream wrote it: a whole number >= 0 within reason, else undefined. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000_000
    ? value
    : undefined;
}
