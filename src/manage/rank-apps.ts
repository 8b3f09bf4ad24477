import type { AppRankingSort } from '../contract/dataset-app-rankings.ts';
import type { App } from '../ports/apps.ts';
import type { AppTotals } from '../ports/events.ts';

/** An app and what it is ranked by. */
export interface ScoredApp {
  readonly host: string;
  readonly score: bigint;
  readonly tokens: bigint;
  readonly requests: bigint;
}

/** An app at its place. */
export interface RankedApp {
  readonly id: number;
  readonly name: string;
  /** From 1. */
  readonly rank: number;
  readonly tokens: bigint;
  readonly requests: bigint;
}

interface Scoring {
  /** Windows before the one that is ranked. */
  readonly precedingWindows: number;
  /** By tokens in the window and in those before it. */
  readonly scoreOf: (tokens: readonly bigint[]) => bigint;
  /** Apps with less are left out. */
  readonly leastScore: bigint;
}

/** How each order scores. Scores are whole numbers: growth is three times what exceeds the mean of three windows. */
export const SCORINGS: Readonly<Record<AppRankingSort, Scoring>> = {
  popular: { precedingWindows: 0, scoreOf: ([tokens = 0n]) => tokens, leastScore: 1n },
  trending: {
    precedingWindows: 3,
    scoreOf: ([tokens = 0n, ...before]) => before.reduce((excess, past) => excess - past, 3n * tokens),
    leastScore: 1n,
  },
};

/** Apps that are ranked at all, best first; equal ones in any order. */
export function scoreApps(
  totals: readonly AppTotals[],
  sort: AppRankingSort,
  isRanked: (host: string) => boolean,
): ScoredApp[] {
  const { scoreOf, leastScore } = SCORINGS[sort];
  const scored: ScoredApp[] = [];
  for (const { app: host, tokens, requests } of totals) {
    const score = scoreOf(tokens);
    if (score < leastScore || !isRanked(host)) continue;
    scored.push({ host, score, tokens: tokens[0] ?? 0n, requests: requests[0] ?? 0n });
  }
  return scored.sort((one, other) => downwards(one.score, other.score));
}

/**
 * The first so many of scored apps, in their order; equal ones by id. Only as many are looked up as it takes. One that
 * nobody knows has no id, and no place.
 */
export async function rankApps(
  scored: readonly ScoredApp[],
  count: number,
  lookUp: (hosts: readonly string[]) => Promise<readonly App[]>,
): Promise<RankedApp[]> {
  const ranked: RankedApp[] = [];
  for (let begin = 0; begin < scored.length && ranked.length < count; ) {
    const end = endOfEqual(scored, begin + count - ranked.length);
    const some = scored.slice(begin, end);
    const apps = new Map((await lookUp(some.map(({ host }) => host))).map((app) => [app.host, app]));
    const known = some.flatMap((entry) => {
      const app = apps.get(entry.host);
      return app === undefined ? [] : [{ ...entry, id: app.id, name: app.title ?? app.host }];
    });
    known.sort((one, other) => downwards(one.score, other.score) || one.id - other.id);
    for (const { id, name, tokens, requests } of known) {
      ranked.push({ id, name, rank: ranked.length + 1, tokens, requests });
    }
    begin = end;
  }
  return ranked.slice(0, count);
}

/** A place at or behind another at which no app stands that is equal to the one before. */
function endOfEqual(scored: readonly ScoredApp[], from: number): number {
  let end = Math.min(from, scored.length);
  while (end < scored.length && scored[end]?.score === scored[end - 1]?.score) end++;
  return end;
}

function downwards(one: bigint, other: bigint): number {
  return one === other ? 0 : one > other ? -1 : 1;
}
