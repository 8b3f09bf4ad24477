import { isSampled } from '../following/sampling.ts';
import { SharedTurn, type Sliced } from '../kit/loop/turns.ts';
import { type Destination, destinationFollowerId, readsContent } from '../ports/following/destinations.ts';
import type { FollowedGeneration, Follower, FollowerBounds } from '../ports/following/follower.ts';
import type { DestinationTarget } from './destination-target.ts';
import type { FILTER_FIELDS, FilterFacts } from './filter-fields.ts';
import { filterOf, type GenerationFilter } from './filter-rules.ts';
import { isByKey } from './object-folder.ts';
import type { Write } from './writers/writer.ts';

/** Says the names of keys by their hashes; a hash without a name belongs to a deleted key. */
export type KeyNames = (hashes: ReadonlySet<string>) => Promise<ReadonlyMap<string, string>>;

export interface DestinationFollowerParts {
  readonly destination: Destination;
  /** Names its settings: another one, another follower. */
  readonly version: string;
  readonly sinceMs: number;
  readonly bounds: FollowerBounds;
  readonly write: Write;
  readonly keyNames: KeyNames;
  /** Pause after what was there is written, milliseconds. */
  readonly restMs: number;
  readonly needsKeyNames: boolean;
}

/** Generations of a request: many, because each request to a distant server costs several round trips. */
const BATCH_SIZE = 500;

const NO_NAMES: ReadonlyMap<string, string> = new Map();

export function destinationFollower({
  destination,
  version,
  sinceMs,
  bounds,
  write,
  keyNames,
  restMs,
  needsKeyNames,
}: DestinationFollowerParts): Follower {
  const accepts = acceptedBy(destination);

  function* accepted(
    generations: readonly FollowedGeneration[],
    names: ReadonlyMap<string, string>,
  ): Sliced<FilterFacts[]> {
    const sent: FilterFacts[] = [];
    for (const { generation, content } of generations) {
      const facts = { generation, content, apiKeyName: names.get(generation.scopes.key) ?? null };
      if (yield* accepts(facts)) sent.push(facts);
      yield;
    }
    return sent;
  }

  return {
    id: destinationFollowerId(destination),
    type: destination.type,
    version,
    workspaceId: destination.workspaceId,
    sinceMs,
    bounds,
    batchSize: BATCH_SIZE,
    readsContent: readsContent(destination),
    restMs,
    async take(generations, signal) {
      const names = needsKeyNames
        ? await keyNames(new Set(generations.map(({ generation }) => generation.scopes.key)))
        : NO_NAMES;
      const sent = await new SharedTurn(signal).run(accepted(generations, names));
      if (sent.length > 0) await write(sent, signal);
    },
  };
}

const KEY_NAME: keyof typeof FILTER_FIELDS = 'api_key_name';

export function needsKeyNames(
  { filterRules }: Pick<Destination, 'filterRules'>,
  target: DestinationTarget,
): boolean {
  const isInRules = (filterRules?.groups ?? []).some(({ rules }) =>
    rules.some(({ field }) => field === KEY_NAME),
  );
  return isInRules || (target.writer === 'objects' && isByKey(target));
}

/** Whether a destination is sent a generation of its workspace. Keep it for as long as the destination is unchanged. */
function acceptedBy(
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
