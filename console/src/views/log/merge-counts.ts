import type { GenerationCounts } from '../../api/contract.ts';

/** Counts of adjoining parts of a range, the newest part first, as one; undefined without any. */
export function mergedCounts(parts: readonly GenerationCounts[]): GenerationCounts | undefined {
  const oldest = parts.at(-1);
  if (oldest === undefined) return undefined;
  const sumOf = (name: 'total' | 'failed' | 'refused' | 'refused_requests') =>
    parts.reduce((sum, part) => sum + part[name], 0);
  return {
    ...oldest,
    total: sumOf('total'),
    failed: sumOf('failed'),
    refused: sumOf('refused'),
    refused_requests: sumOf('refused_requests'),
    buckets: parts.toReversed().flatMap(({ buckets }) => buckets),
  };
}
