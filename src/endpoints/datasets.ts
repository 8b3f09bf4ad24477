import {
  appRankingsQuerySchema,
  appRankingsReply,
  appRankingsReplySchema,
} from '../contract/analytics/dataset-app-rankings.ts';
import {
  rankingsDailyQuerySchema,
  rankingsDailyReply,
  rankingsDailyReplySchema,
} from '../contract/analytics/dataset-rankings-daily.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';

const DATASETS = { method: 'GET', tag: 'Datasets', rateClass: 'datasets', readsEvents: true } as const;

/** Usage of all accounts together. */
export const DATASET_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...DATASETS,
    path: '/datasets/app-rankings',
    operationId: 'getAppRankings',
    summary: 'Apps by the tokens that they used',
    permission: 'datasets.read',
    query: appRankingsQuerySchema,
    reply: appRankingsReplySchema,
    run: async ({ services, query, signal }) =>
      appRankingsReply(await services.rankings.ofApps(query, signal)),
  }),
  endpoint({
    ...DATASETS,
    path: '/datasets/rankings-daily',
    operationId: 'getRankingsDaily',
    summary:
      'Models by the tokens that were used of them: the first 50 of every day, week or month, and the rest',
    permission: 'datasets.read',
    query: rankingsDailyQuerySchema,
    reply: rankingsDailyReplySchema,
    run: async ({ services, query, signal }) =>
      rankingsDailyReply(await services.rankings.ofModels(query, signal)),
  }),
];
