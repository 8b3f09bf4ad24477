/** Prompts up to so many tokens, and what they are called. */
export const CONTEXT_LENGTH_BUCKETS: readonly (readonly [mostTokens: number, name: string])[] = [
  [1_000, '1K'],
  [10_000, '10K'],
  [100_000, '100K'],
  [1_000_000, '1M'],
  [Number.POSITIVE_INFINITY, '10M'],
];

/** The bucket that a prompt falls in. */
export function contextLengthBucketOf(promptTokens: number): string {
  return CONTEXT_LENGTH_BUCKETS.find(([mostTokens]) => promptTokens <= mostTokens)?.[1] ?? '10M';
}
