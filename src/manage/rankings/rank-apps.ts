import type { AppRankingSort } from '../../contract/dataset-app-rankings.ts';
import { Shortlist } from '../../kit/collections/shortlist.ts';
import { nextTurn, runInTurns, type Sliced } from '../../kit/loop/turns.ts';
import type { AppRegistry } from '../../ports/apps.ts';
import type { AppTotals } from '../../ports/events.ts';

/** An app at its place. */
export interface RankedApp {
  readonly id: number;
  readonly name: string;
  /** From 1. */
  readonly rank: number;
  readonly tokens: bigint;
  readonly requests: bigint;
}

/** What is ranked, and how. */
export interface Contest {
  readonly totals: AppTotals;
  readonly sort: AppRankingSort;
  /** Whether an app takes part. */
  readonly isRanked: (host: string) => boolean;
}

/** A stretch of a ranking. */
export interface RankingPage {
  readonly offset: number;
  readonly limit: number;
}

/** What apps are looked up in. */
export interface RankingSources {
  readonly apps: Pick<AppRegistry, 'idsOf' | 'ofHosts'>;
  /** Ends the looking up, which may take long where many apps are equal. */
  readonly signal: AbortSignal;
}

interface Scoring {
  /** Windows before the one that is ranked. */
  readonly precedingWindows: number;
  /** By tokens in a window: 0 is the one that is ranked, 1 all those before it. */
  readonly scoreOf: (tokensIn: (window: number) => bigint) => bigint;
  /** Apps with less are left out. */
  readonly leastScore: bigint;
}

/** How each order scores. Scores are whole numbers: growth is three times what exceeds the mean of three windows. */
export const SCORINGS: Readonly<Record<AppRankingSort, Scoring>> = {
  popular: { precedingWindows: 0, scoreOf: (tokensIn) => tokensIn(0), leastScore: 1n },
  trending: {
    precedingWindows: 3,
    scoreOf: (tokensIn) => 3n * tokensIn(0) - tokensIn(1),
    leastScore: 1n,
  },
};

/** Apps with the best scores, by their places in the totals and in that order. */
export interface Leaders {
  readonly places: readonly number[];
  /** No leader has a lower score, and nobody else has this one. */
  readonly lowestScore: bigint;
}

/**
 * The apps with the so many best scores below a bound, and all that are equal to the last of them. Undefined when there are
 * none.
 */
export function* leadersOf(contest: Contest, count: number, below?: bigint): Sliced<Leaders | undefined> {
  const best = new Shortlist<bigint>(count, downwards);
  yield* forEachScore(contest, below, (score, place) => {
    if (best.admits(score) && takesPart(contest, place)) best.add(score);
  });
  const lowestScore = best.members.at(-1);
  if (lowestScore === undefined) return undefined;
  const places: number[] = [];
  yield* forEachScore(contest, below, (score, place) => {
    if (score >= lowestScore && takesPart(contest, place)) places.push(place);
  });
  return { places, lowestScore };
}

/** Who has a place, and which of the totals are theirs. */
interface Placed {
  readonly place: number;
  readonly score: bigint;
  readonly id: number;
}

/** Apps that are looked up in one turn. */
const LOOKED_UP_AT_ONCE = 250;

/** Leaders that are looked for once apps turned out to be unknown: there may be more of those. */
const MORE_LEADERS = 2_000;

/**
 * A page of apps, best first; equal ones by id. Only as many are looked up as it takes. One that nobody knows has no id, and
 * no place. Rejects with the reason of the signal once that is aborted.
 */
export async function rankApps(
  contest: Contest,
  { offset, limit }: RankingPage,
  sources: RankingSources,
): Promise<RankedApp[]> {
  const count = offset + limit;
  const placed: Placed[] = [];
  let leaders = await runInTurns(leadersOf(contest, count));
  while (leaders !== undefined) {
    const known = new Shortlist(count - placed.length, byScoreThenId);
    await lookUp(contest, leaders.places, sources, (app) => known.add(app));
    placed.push(...known.members);
    if (placed.length === count) break;
    leaders = await runInTurns(leadersOf(contest, MORE_LEADERS, leaders.lowestScore));
  }
  return named(contest, placed.slice(offset), offset, sources);
}

/** Visits those that are known, in turns. */
async function lookUp(
  contest: Contest,
  places: readonly number[],
  { apps, signal }: RankingSources,
  visit: (app: Placed) => void,
): Promise<void> {
  for (let begin = 0; begin < places.length; begin += LOOKED_UP_AT_ONCE) {
    if (begin > 0) await nextTurn();
    signal.throwIfAborted();
    const some = places.slice(begin, begin + LOOKED_UP_AT_ONCE);
    const ids = await apps.idsOf(some.map((place) => hostAt(contest, place)));
    for (const place of some) {
      const id = ids.get(hostAt(contest, place));
      if (id !== undefined) visit({ place, id, score: scoreAt(contest, place) });
    }
  }
}

async function named(
  contest: Contest,
  page: readonly Placed[],
  offset: number,
  { apps }: RankingSources,
): Promise<RankedApp[]> {
  const known = await apps.ofHosts(page.map(({ place }) => hostAt(contest, place)));
  const titles = new Map(known.map(({ host, title }) => [host, title]));
  const { tokens, requests } = contest.totals;
  return page.map(({ id, place }, index) => ({
    id,
    name: titles.get(hostAt(contest, place)) ?? hostAt(contest, place),
    rank: offset + index + 1,
    tokens: BigInt(tokens[0]?.[place] ?? 0),
    requests: BigInt(requests[0]?.[place] ?? 0),
  }));
}

/** Scores that are looked at in one slice, each in a fraction of a microsecond. */
const SCORES_IN_SLICE = 1_024;

/** Visits the scores that are ranked at all, where `below` is given those below it. */
function* forEachScore(
  contest: Contest,
  below: bigint | undefined,
  visit: (score: bigint, place: number) => void,
): Sliced<void> {
  const { leastScore } = SCORINGS[contest.sort];
  for (let place = 0; place < contest.totals.apps.length; place++) {
    if (place > 0 && place % SCORES_IN_SLICE === 0) yield;
    const score = scoreAt(contest, place);
    if (score >= leastScore && (below === undefined || score < below)) visit(score, place);
  }
}

function scoreAt({ totals, sort }: Contest, place: number): bigint {
  return SCORINGS[sort].scoreOf((window) => BigInt(totals.tokens[window]?.[place] ?? 0));
}

function hostAt({ totals }: Contest, place: number): string {
  return totals.apps[place] ?? '';
}

function takesPart(contest: Contest, place: number): boolean {
  return contest.isRanked(hostAt(contest, place));
}

function byScoreThenId(one: Placed, other: Placed): number {
  return downwards(one.score, other.score) || one.id - other.id;
}

function downwards(one: bigint, other: bigint): number {
  return one === other ? 0 : one > other ? -1 : 1;
}
