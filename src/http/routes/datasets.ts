import {
  type AppRankingsQuery,
  appRankingsQuerySchema,
  appRankingsReply,
  appRankingsReplySchema,
} from '../../contract/analytics/dataset-app-rankings.ts';
import {
  type RankingsDailyQuery,
  rankingsDailyQuerySchema,
  rankingsDailyReply,
  rankingsDailyReplySchema,
} from '../../contract/analytics/dataset-rankings-daily.ts';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { encodeSliced, stringifySliced } from '../../kit/json/stringify-sliced.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import type { Route } from '../route.ts';
import { ANALYTICS_WARNING_HEADER, analyticsWarning, errors, ok } from './row-parts.ts';
import { withinQueryTime } from './within-query-time.ts';

const DATASET = {
  method: 'GET',
  mount: 'api',
  tag: 'Datasets',
  auth: 'any',
  rateClass: 'datasets',
  encodeError: encodeEnvelope,
} as const;

const REFUSALS = errors(errorEnvelopeSchema, [400, 401, 408, 429, 500, 503]);

/** Usage of all accounts together. */
export const DATASET_ROUTES: readonly Route[] = [
  {
    ...DATASET,
    path: '/datasets/app-rankings',
    operationId: 'getAppRankings',
    summary: 'Apps by the tokens that they used',
    request: { query: appRankingsQuerySchema, headers: null, body: null },
    responseHeaders: ANALYTICS_WARNING_HEADER,
    responses: { 200: ok(appRankingsReplySchema), ...REFUSALS },
    handler: async (call) => {
      const { exchange, services, query } = call;
      const headers = analyticsWarning(call);
      const rankings = await withinQueryTime(call, (signal) =>
        services.rankings.ofApps(query as AppRankingsQuery, signal),
      );
      exchange.reply.json(200, appRankingsReply(rankings), headers());
    },
  },
  {
    ...DATASET,
    path: '/datasets/rankings-daily',
    operationId: 'getRankingsDaily',
    summary:
      'Models by the tokens that were used of them: the first 50 of every day, week or month, and the rest',
    request: { query: rankingsDailyQuerySchema, headers: null, body: null },
    responseHeaders: ANALYTICS_WARNING_HEADER,
    responses: { 200: ok(rankingsDailyReplySchema), ...REFUSALS },
    handler: async (call) => {
      const { exchange, services, query } = call;
      const headers = analyticsWarning(call);
      const rankings = await withinQueryTime(call, (signal) =>
        services.rankings.ofModels(query as RankingsDailyQuery, signal),
      );
      const pieces = await runInTurns(stringifySliced(rankingsDailyReply(rankings)));
      exchange.reply.jsonText(200, await runInTurns(encodeSliced(pieces)), headers());
    },
  },
];
