import type { AppRankingSort } from '../../contract/analytics/dataset-app-rankings.ts';
import { Shortlist } from '../../kit/collections/shortlist.ts';
import { nextTurn, runInTurns, type Sliced } from '../../kit/loop/turns.ts';
import type { AppRegistry } from '../../ports/events/apps.ts';
import type { AppTotals } from '../../ports/events/events.ts';

export interface RankedApp {
  readonly id: number;
  readonly name: string;
  /** From 1. */
  readonly rank: number;
  readonly tokens: bigint;
  readonly requests: bigint;
}

/** The totals to rank, the order, and the apps to include. */
export interface RankingInput {
  readonly totals: AppTotals;
  readonly sort: AppRankingSort;
  /** False = the app is left out. */
  readonly isRanked: (host: string) => boolean;
}

export interface RankingPage {
  readonly offset: number;
  readonly limit: number;
}

export interface RankingSources {
  readonly apps: Pick<AppRegistry, 'idsOf' | 'ofHosts'>;
  /** Aborts the lookups, which may be many if many apps have equal scores. */
  readonly signal: AbortSignal;
}

interface Scoring {
  /** Number of earlier windows that the score needs. */
  readonly precedingWindows: number;
  /** `tokensIn(0)`: tokens in the ranked window; `tokensIn(1)`: in all preceding windows together. */
  readonly scoreOf: (tokensIn: (window: number) => bigint) => bigint;
  /** Apps with a lower score are left out. */
  readonly leastScore: bigint;
}

/** The score of each order. `trending`: tokens minus the mean of the three preceding windows, times 3 to stay whole. */
export const SCORINGS: Readonly<Record<AppRankingSort, Scoring>> = {
  popular: { precedingWindows: 0, scoreOf: (tokensIn) => tokensIn(0), leastScore: 1n },
  trending: {
    precedingWindows: 3,
    scoreOf: (tokensIn) => 3n * tokensIn(0) - tokensIn(1),
    leastScore: 1n,
  },
};

/** The apps with the best scores, as indexes into the totals, ascending. */
export interface Leaders {
  readonly places: readonly number[];
  /** Lowest score of the leaders; no other app has it. */
  readonly lowestScore: bigint;
}

/** The `count` best apps with a score under `below`, and all that tie with the last of them; undefined if none. */
export function* leadersOf(input: RankingInput, count: number, below?: bigint): Sliced<Leaders | undefined> {
  const best = new Shortlist<bigint>(count, descending);
  yield* forEachScore(input, below, (score, place) => {
    if (best.admits(score) && isIncluded(input, place)) best.add(score);
  });
  const lowestScore = best.members.at(-1);
  if (lowestScore === undefined) return undefined;
  const places: number[] = [];
  yield* forEachScore(input, below, (score, place) => {
    if (score >= lowestScore && isIncluded(input, place)) places.push(place);
  });
  return { places, lowestScore };
}

/** An app known to the registry; `place`: its index in the totals. */
interface Placed {
  readonly place: number;
  readonly score: bigint;
  readonly id: number;
}

const APPS_PER_LOOKUP = 250;

/** Leaders of the second and later rounds, which are needed if the registry does not know some of the first. */
const MORE_LEADERS = 2_000;

/**
 * A page of apps, best first; ties by id. Looks up no more apps than needed. Apps that the registry does not know
 * have no id and are skipped. Rejects with the signal's reason when it is aborted.
 */
export async function rankApps(
  input: RankingInput,
  { offset, limit }: RankingPage,
  sources: RankingSources,
): Promise<RankedApp[]> {
  const count = offset + limit;
  const placed: Placed[] = [];
  let leaders = await runInTurns(leadersOf(input, count));
  while (leaders !== undefined) {
    const known = new Shortlist(count - placed.length, byScoreThenId);
    await lookUp(input, leaders.places, sources, (app) => known.add(app));
    placed.push(...known.members);
    if (placed.length === count) break;
    leaders = await runInTurns(leadersOf(input, MORE_LEADERS, leaders.lowestScore));
  }
  return namedApps(input, placed.slice(offset), offset, sources);
}

/** Visits the apps that the registry knows, yielding to the event loop between lookups. */
async function lookUp(
  input: RankingInput,
  places: readonly number[],
  { apps, signal }: RankingSources,
  visit: (app: Placed) => void,
): Promise<void> {
  for (let begin = 0; begin < places.length; begin += APPS_PER_LOOKUP) {
    if (begin > 0) await nextTurn();
    signal.throwIfAborted();
    const some = places.slice(begin, begin + APPS_PER_LOOKUP);
    const ids = await apps.idsOf(some.map((place) => hostAt(input, place)));
    for (const place of some) {
      const id = ids.get(hostAt(input, place));
      if (id !== undefined) visit({ place, id, score: scoreAt(input, place) });
    }
  }
}

async function namedApps(
  input: RankingInput,
  page: readonly Placed[],
  offset: number,
  { apps }: RankingSources,
): Promise<RankedApp[]> {
  const known = await apps.ofHosts(page.map(({ place }) => hostAt(input, place)));
  const titles = new Map(known.map(({ host, title }) => [host, title]));
  const { tokens, requests } = input.totals;
  return page.map(({ id, place }, index) => ({
    id,
    name: titles.get(hostAt(input, place)) ?? hostAt(input, place),
    rank: offset + index + 1,
    tokens: BigInt(tokens[0]?.[place] ?? 0),
    requests: BigInt(requests[0]?.[place] ?? 0),
  }));
}

/** Scores per slice; each takes under a microsecond. */
const SCORES_PER_SLICE = 1_024;

/** Visits all scores of at least `leastScore` and, if given, under `below`. */
function* forEachScore(
  input: RankingInput,
  below: bigint | undefined,
  visit: (score: bigint, place: number) => void,
): Sliced<void> {
  const { leastScore } = SCORINGS[input.sort];
  for (let place = 0; place < input.totals.apps.length; place++) {
    if (place > 0 && place % SCORES_PER_SLICE === 0) yield;
    const score = scoreAt(input, place);
    if (score >= leastScore && (below === undefined || score < below)) visit(score, place);
  }
}

function scoreAt({ totals, sort }: RankingInput, place: number): bigint {
  return SCORINGS[sort].scoreOf((window) => BigInt(totals.tokens[window]?.[place] ?? 0));
}

function hostAt({ totals }: RankingInput, place: number): string {
  return totals.apps[place] ?? '';
}

function isIncluded(input: RankingInput, place: number): boolean {
  return input.isRanked(hostAt(input, place));
}

function byScoreThenId(one: Placed, other: Placed): number {
  return descending(one.score, other.score) || one.id - other.id;
}

function descending(one: bigint, other: bigint): number {
  return one === other ? 0 : one > other ? -1 : 1;
}
