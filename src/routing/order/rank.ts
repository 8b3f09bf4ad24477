import { tierOf } from '../../catalog/service-tier.ts';
import { type Candidate, type RankedCandidate, siteOf } from '../rules/candidate.ts';
import type { Preferences } from '../rules/preferences.ts';
import { drawFirst, type Share, undrawn } from './draw.ts';
import {
  compareRankKeys,
  DEFERRAL,
  type Deferral,
  deferralOf,
  pinFor,
  type RankContext,
  type RankKey,
  rankKeyFunction,
} from './rank-key.ts';

export interface ModelCandidates {
  readonly candidates: readonly Candidate[];
  readonly preferences: Preferences;
}

export interface RankInput extends RankContext {
  readonly random: () => number;
}

/** A ranked candidate, with the reason if it is called later than its rank. */
interface Ranked {
  readonly candidate: RankedCandidate;
  readonly deferral: Deferral;
}

/**
 * The order of attempts: model by model, or all models together if the request wants no partition. Candidates that must
 * not be called now come last.
 */
export function rank(models: readonly ModelCandidates[], input: RankInput): RankedCandidate[] {
  const partitions = partitionsOf(models);
  const only = singleCandidate(partitions);
  if (only !== undefined) return [rankSingle(only, input)];
  const keyFunctions = new Map<Preferences, ReturnType<typeof rankKeyFunction>>();
  const ranked: Ranked[] = [];
  for (const { candidates, preferences } of partitions) {
    const rankKeyOf = keyFunctions.get(preferences) ?? rankKeyFunction(preferences, input);
    keyFunctions.set(preferences, rankKeyOf);
    const sorted = candidates.map(rankKeyOf).sort(compareRankKeys);
    const shares = sharesOf(sorted, preferences, input.random);
    for (const [place, share] of shares.entries()) ranked.push(rankedOf(share, place === 0));
  }
  // The sort is stable: candidates with the same deferral keep their order.
  return ranked.sort((one, other) => one.deferral - other.deferral).map(({ candidate }) => candidate);
}

interface SingleCandidate {
  readonly candidate: Candidate;
  readonly preferences: Preferences;
}

function singleCandidate([first, second]: readonly ModelCandidates[]): SingleCandidate | undefined {
  if (first === undefined || second !== undefined || first.candidates.length !== 1) return undefined;
  const [candidate] = first.candidates;
  return candidate && { candidate, preferences: first.preferences };
}

/** Shortcut for a single candidate: nothing to compare or draw. */
function rankSingle(
  { candidate, preferences }: SingleCandidate,
  { health, pin }: RankInput,
): RankedCandidate {
  const { model, endpoint, access, lane } = candidate;
  const site = siteOf(endpoint, access);
  const isPinned = site === pinFor(preferences, pin);
  const isSticky = isPinned && deferralOf(health.of(site)) === DEFERRAL.none;
  return { model, endpoint, access, lane, weight: undefined, isSticky };
}

/** Lists that are ranked separately. Without a partition there is one, by default sorted by price. */
function partitionsOf(models: readonly ModelCandidates[]): readonly ModelCandidates[] {
  const first = models[0]?.preferences;
  if (first === undefined || first.partition === 'model') return models;
  const sort = models.find(({ preferences }) => preferences.sort !== undefined)?.preferences.sort ?? 'price';
  const candidates: Candidate[] = [];
  for (const model of models) candidates.push(...model.candidates);
  return [{ candidates, preferences: { ...first, sort } }];
}

/** The sorted keys; if load is balanced, the first is drawn. */
function sharesOf(
  sorted: readonly RankKey[],
  preferences: Preferences,
  random: () => number,
): readonly Share<RankKey>[] {
  const start = sorted.findIndex(
    ({ deferral, precedence }) => deferral < DEFERRAL.paused && precedence === 1,
  );
  return isBalanced(sorted[start], preferences) ? balance(sorted, start, random) : sorted.map(undrawn);
}

/** True if load is spread over the best shared endpoints: no order, sort or requested tier decides the first. */
function isBalanced(best: RankKey | undefined, { order, sort, tier }: Preferences): boolean {
  if (best === undefined || order.size > 0 || sort !== undefined) return false;
  return tier === undefined || tierOf(best.candidate.endpoint) !== tier;
}

/** Draws the first from those that are as good as the one at `start`. */
function balance(sorted: readonly RankKey[], start: number, random: () => number): Share<RankKey>[] {
  const best = sorted[start];
  const isAsGood = ({ deferral, precedence, penalties }: RankKey) =>
    deferral === best?.deferral && precedence === best.precedence && penalties === best.penalties;
  let end = start;
  for (let next = sorted[end]; next !== undefined && isAsGood(next); next = sorted[end]) end += 1;
  if (start === 0 && end === sorted.length) return drawFirst(sorted, priceOf, random);
  return [
    ...sorted.slice(0, start).map(undrawn),
    ...drawFirst(sorted.slice(start, end), priceOf, random),
    ...sorted.slice(end).map(undrawn),
  ];
}

function priceOf({ price }: RankKey): number {
  return price;
}

function rankedOf({ entry, weight }: Share<RankKey>, isFirst: boolean): Ranked {
  const { candidate, deferral, isPinned } = entry;
  const { model, endpoint, access, lane } = candidate;
  const isSticky = isPinned && isFirst && deferral === DEFERRAL.none;
  return { deferral, candidate: { model, endpoint, access, lane, weight, isSticky } };
}
