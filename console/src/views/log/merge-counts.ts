import type { GenerationCounts } from '../../api/contract.ts';

/** Counts of adjoining parts of a range, the newest part first, as one; undefined without any. */
export function mergedCounts(parts: readonly GenerationCounts[]): GenerationCounts | undefined {
  const oldest = parts.at(-1);
  if (oldest === undefined) return undefined;
  const sumOf = (name: 'total' | 'failed') => parts.reduce((sum, part) => sum + part[name], 0);
  return {
    ...oldest,
    total: sumOf('total'),
    failed: sumOf('failed'),
    buckets: parts.toReversed().flatMap(({ buckets }) => buckets),
  };
}
