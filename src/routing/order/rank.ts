import { tierOf } from '../../catalog/endpoint-tier.ts';
import { type Candidate, type RankedCandidate, siteOf } from '../rules/candidate.ts';
import type { Preferences } from '../rules/preferences.ts';
import { drawFirst, type Share, undrawn } from './draw.ts';
import {
  type Circumstances,
  compareStandings,
  DEFERRAL,
  type Deferral,
  deferralOf,
  pinFor,
  type Standing,
  standings,
} from './rank-key.ts';

/** The candidates of one model, and what is preferred for it. */
export interface ModelCandidates {
  readonly candidates: readonly Candidate[];
  readonly preferences: Preferences;
}

/** What the order depends on besides the candidates, and the dice. */
export interface RankInput extends Circumstances {
  readonly random: () => number;
}

/** A candidate at its place, and why it is not called there. */
interface Ranked {
  readonly candidate: RankedCandidate;
  readonly deferral: Deferral;
}

/**
 * The order of attempts: model by model, or all together where the request wants no partition. Candidates that must
 * not be called now come after all that may be.
 */
export function rank(models: readonly ModelCandidates[], input: RankInput): RankedCandidate[] {
  const partitions = partitionsOf(models);
  const only = onlyOne(partitions);
  if (only !== undefined) return [alone(only, input)];
  const standingBy = new Map<Preferences, ReturnType<typeof standings>>();
  const ranked: Ranked[] = [];
  for (const { candidates, preferences } of partitions) {
    const standingOf = standingBy.get(preferences) ?? standings(preferences, input);
    standingBy.set(preferences, standingOf);
    const sorted = candidates.map(standingOf).sort(compareStandings);
    const shares = sharesOf(sorted, preferences, input.random);
    for (const [place, share] of shares.entries()) ranked.push(rankedOf(share, place === 0));
  }
  // Sorting is stable: candidates that may be called keep the place that the partition gave.
  return ranked.sort((one, other) => one.deferral - other.deferral).map(({ candidate }) => candidate);
}

/** A candidate that there is no other to compare with. */
interface OnlyCandidate {
  readonly candidate: Candidate;
  readonly preferences: Preferences;
}

function onlyOne([first, second]: readonly ModelCandidates[]): OnlyCandidate | undefined {
  if (first === undefined || second !== undefined || first.candidates.length !== 1) return undefined;
  const [candidate] = first.candidates;
  return candidate && { candidate, preferences: first.preferences };
}

/** Its place is known, and nothing is drawn: of its standing only the conversation counts. */
function alone({ candidate, preferences }: OnlyCandidate, { health, pin }: RankInput): RankedCandidate {
  const { model, endpoint, access, lane } = candidate;
  const site = siteOf(endpoint, access);
  const isPinned = site === pinFor(preferences, pin);
  const isSticky = isPinned && deferralOf(health.of(site)) === DEFERRAL.none;
  return { model, endpoint, access, lane, weight: undefined, isSticky };
}

/**
 * Lists that are ranked each for itself. Without a partition there is one, sorted by price unless something else is
 * said.
 */
function partitionsOf(models: readonly ModelCandidates[]): readonly ModelCandidates[] {
  const first = models[0]?.preferences;
  if (first === undefined || first.partition === 'model') return models;
  const sort = models.find(({ preferences }) => preferences.sort !== undefined)?.preferences.sort ?? 'price';
  const candidates: Candidate[] = [];
  for (const model of models) candidates.push(...model.candidates);
  return [{ candidates, preferences: { ...first, sort } }];
}

/** The sorted ones, those in front by chance where load is to be spread. */
function sharesOf(
  sorted: readonly Standing[],
  preferences: Preferences,
  random: () => number,
): readonly Share<Standing>[] {
  const start = sorted.findIndex(
    ({ deferral, precedence }) => deferral < DEFERRAL.paused && precedence === 1,
  );
  return isBalanced(sorted[start], preferences) ? balance(sorted, start, random) : sorted.map(undrawn);
}

/**
 * Whether load is to be spread over the best shared endpoints: unless an order, a sort or their tier says who is
 * first.
 */
function isBalanced(best: Standing | undefined, { order, sort, tier }: Preferences): boolean {
  if (best === undefined || order.size > 0 || sort !== undefined) return false;
  return tier === undefined || tierOf(best.candidate.endpoint) !== tier;
}

/** Draws who is the first from those that are as good as the one at the start. */
function balance(sorted: readonly Standing[], start: number, random: () => number): Share<Standing>[] {
  const best = sorted[start];
  const isAsGood = ({ deferral, precedence, demerits }: Standing) =>
    deferral === best?.deferral && precedence === best.precedence && demerits === best.demerits;
  let end = start;
  for (let next = sorted[end]; next !== undefined && isAsGood(next); next = sorted[end]) end += 1;
  if (start === 0 && end === sorted.length) return drawFirst(sorted, priceOf, random);
  return [
    ...sorted.slice(0, start).map(undrawn),
    ...drawFirst(sorted.slice(start, end), priceOf, random),
    ...sorted.slice(end).map(undrawn),
  ];
}

function priceOf({ price }: Standing): number {
  return price;
}

function rankedOf({ entry, weight }: Share<Standing>, isFirst: boolean): Ranked {
  const { candidate, deferral, isPinned } = entry;
  const { model, endpoint, access, lane } = candidate;
  const isSticky = isPinned && isFirst && deferral === DEFERRAL.none;
  return { deferral, candidate: { model, endpoint, access, lane, weight, isSticky } };
}
