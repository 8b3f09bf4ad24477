import { isSampled } from '../following/sampling.ts';
import type { Destination } from '../ports/following/destinations.ts';
import type { FilterFacts } from './filter-fields.ts';
import { filterOf, type GenerationFilter } from './filter-rules.ts';

/** Whether a destination is sent a generation of its workspace. Keep it for as long as the destination is unchanged. */
export function acceptedBy(
  destination: Pick<Destination, 'apiKeyHashes' | 'samplingRate' | 'filterRules'>,
): GenerationFilter {
  const { apiKeyHashes, samplingRate, filterRules } = destination;
  const hashes = apiKeyHashes === null ? undefined : new Set(apiKeyHashes);
  const filter = filterOf(filterRules);
  return function* (facts: FilterFacts) {
    const isWanted = hashes?.has(facts.generation.scopes.key) ?? true;
    return isWanted && isSampled(facts.generation, samplingRate) && (yield* filter(facts));
  };
}
