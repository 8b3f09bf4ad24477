import type { AppRankingsQuery } from '../../contract/analytics/dataset-app-rankings.ts';
import type { RankingsDailyQuery } from '../../contract/analytics/dataset-rankings-daily.ts';
import {
  DATASET_START,
  type DatasetWindowQuery,
  type ShownDataset,
} from '../../contract/analytics/dataset-window.ts';
import { APP_CATEGORIES } from '../../ir/apps/app-categories.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { FairPlaces } from '../../kit/loop/fair-places.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { AppRegistry } from '../../ports/events/apps.ts';
import type { DayWindow, EventStore } from '../../ports/events/events.ts';
import { hiddenBy } from './hidden-apps.ts';
import { type RankedApp, rankApps, SCORINGS } from './rank-apps.ts';
import { filtersByContent, modelFilters, queryWindows, type RankedModel, rankModels } from './rank-models.ts';

export interface RankingsDependencies {
  readonly events: Pick<EventStore, 'appTotals' | 'query'>;
  readonly apps: Pick<AppRegistry, 'idsOf' | 'ofHosts' | 'hostsOfCategories'>;
  /** Hosts of apps that the operator excludes (`apps.hidden`). */
  readonly hidden: () => readonly string[];
  readonly clock: Pick<Clock, 'now'>;
}

export interface AppRankings extends ShownDataset {
  readonly apps: readonly RankedApp[];
}

export interface ModelRankings extends ShownDataset {
  readonly models: readonly RankedModel[];
}

const DEFAULT_PAGE = 50;

/** App rankings computed concurrently; further ones queue. */
const MAX_CONCURRENT_RANKINGS = 2;

/** One queue for all callers: a ranking is the same for each of them. */
const SHARED_QUEUE = '';

const NOTHING_CLASSIFIED =
  'category and language_type need requests that were classified by their content; this gateway ' +
  'classifies none, so no row matches';

/** Rankings over all accounts of the installation. Requests that asked for zero retention are in none. */
export class Rankings {
  readonly #dependencies: RankingsDependencies;
  /** Bounds the rankings that share each turn of the event loop. */
  readonly #underway = new FairPlaces(MAX_CONCURRENT_RANKINGS, MAX_CONCURRENT_RANKINGS);

  constructor(dependencies: RankingsDependencies) {
    this.#dependencies = dependencies;
  }

  /** A page of apps. Throws 400. */
  async ofApps(query: AppRankingsQuery, signal: AbortSignal): Promise<AppRankings> {
    const { events, clock } = this.#dependencies;
    const asOfMs = clock.now();
    const window = rankingsWindow(query, asOfMs);
    const { sort = 'popular', limit = DEFAULT_PAGE } = query;
    const page = { offset: query.offset ?? 0, limit };
    const categories = categoriesOf(query);
    const totals = await events.appTotals(withPreceding(window, SCORINGS[sort].precedingWindows), signal);
    const apps = await this.#underway.within(SHARED_QUEUE, signal, async () => {
      const input = { totals, sort, isRanked: await this.#ranked(categories) };
      return rankApps(input, page, { apps: this.#dependencies.apps, signal });
    });
    return { asOfMs, window, apps };
  }

  /** Returns a predicate for ranked apps: not hidden, and in one of the categories if any are given. */
  async #ranked(categories: readonly string[] | undefined): Promise<(host: string) => boolean> {
    const { apps, hidden } = this.#dependencies;
    const tagged = categories && (await apps.hostsOfCategories(categories));
    const isHidden = hiddenBy(hidden());
    return (host) => tagged?.has(host) !== false && !isHidden(host);
  }

  /** Models of every period. Throws 400. */
  async ofModels(query: RankingsDailyQuery, signal: AbortSignal): Promise<ModelRankings> {
    const { events, clock } = this.#dependencies;
    const asOfMs = clock.now();
    const window = rankingsWindow(query, asOfMs);
    if (filtersByContent(query)) return { asOfMs, window, models: [], warnings: [NOTHING_CLASSIFIED] };
    const { period = 'day' } = query;
    const models: RankedModel[] = [];
    for (const piece of queryWindows(window, period)) {
      const { rows } = await events.query(
        {
          accountId: null,
          metrics: ['tokens_total'],
          dimensions: ['model'],
          granularity: period,
          ...piece,
          filters: modelFilters(query),
          order: null,
          limit: Number.MAX_SAFE_INTEGER,
          groupLimit: null,
        },
        signal,
      );
      models.push(...(await runInTurns(rankModels(rows))));
    }
    return { asOfMs, window, models };
  }
}

/** The categories of which an app must have one; undefined = no filter. Throws 400. */
function categoriesOf({ category, subcategory }: AppRankingsQuery): readonly string[] | undefined {
  const group: readonly string[] | undefined = category && APP_CATEGORIES[category];
  if (subcategory === undefined) return group;
  if (group !== undefined && !group.includes(subcategory)) {
    throw invalidRequest([
      {
        path: 'subcategory',
        message: `${subcategory} is not in the category ${category}, which has ${group.join(', ')}`,
      },
    ]);
  }
  return [subcategory];
}

const DAY_MS = 86_400_000;

/** Length of a window without start_date: from so many days before end_date. */
const DEFAULT_DAYS = 30;
const MAX_WINDOW_DAYS = 366;

const FIRST_MS = Date.parse(DATASET_START);

/** The window of days of a query. Throws 400. */
export function rankingsWindow({ start_date, end_date }: DatasetWindowQuery, nowMs: number): DayWindow {
  const lastMs = end_date === undefined ? nowMs - (nowMs % DAY_MS) - DAY_MS : dayMs('end_date', end_date);
  if (lastMs < FIRST_MS) {
    throw refused('end_date', `must be on or after ${DATASET_START}, the first day of the dataset`);
  }
  const wantedMs =
    start_date === undefined ? lastMs - DEFAULT_DAYS * DAY_MS : dayMs('start_date', start_date);
  const startMs = Math.max(wantedMs, FIRST_MS);
  const endMs = lastMs + DAY_MS;
  if (startMs >= endMs) throw refused('start_date', 'must not be after end_date');
  if (endMs - startMs > MAX_WINDOW_DAYS * DAY_MS) {
    throw refused(
      'start_date',
      `must be such that the window, both ends included, has at most ${MAX_WINDOW_DAYS} days`,
    );
  }
  return { startMs, endMs };
}

/** The window, and a second one that spans `count` times its length right before it, cut at the dataset's start. */
export function withPreceding(window: DayWindow, count: number): DayWindow[] {
  if (count === 0) return [window];
  const { startMs, endMs } = window;
  return [window, { startMs: Math.max(startMs - count * (endMs - startMs), FIRST_MS), endMs: startMs }];
}

function dayMs(path: string, text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text)) {
    throw refused(path, `${text} is not in the calendar`);
  }
  return ms;
}

function refused(path: string, message: string) {
  return invalidRequest([{ path, message }]);
}
