import { appRankingsQuerySchema, appRankingsReplySchema } from '../../contract/dataset-app-rankings.ts';
import { rankingsDailyQuerySchema, rankingsDailyReplySchema } from '../../contract/dataset-rankings-daily.ts';
import { errorEnvelopeSchema } from '../../contract/error-envelope.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { errors, ok } from '../openapi/route-responses.ts';
import { listAppRankings, listRankingsDaily } from './dataset-routes.ts';
import type { Route } from './route.ts';

const DATASET = {
  method: 'GET',
  mount: 'api',
  tag: 'Datasets',
  auth: 'any',
  rateClass: 'datasets',
  encodeError: encodeEnvelope,
} as const;

const REFUSALS = errors(errorEnvelopeSchema, [400, 401, 408, 429, 500, 503]);

/** What the installation tells of the usage of all accounts together. */
export const DATASET_ROUTES: readonly Route[] = [
  {
    ...DATASET,
    path: '/datasets/app-rankings',
    operationId: 'getAppRankings',
    summary: 'Apps by the tokens that they used',
    request: { query: appRankingsQuerySchema, headers: null, body: null },
    responses: { 200: ok(appRankingsReplySchema), ...REFUSALS },
    handler: listAppRankings,
  },
  {
    ...DATASET,
    path: '/datasets/rankings-daily',
    operationId: 'getRankingsDaily',
    summary:
      'Models by the tokens that were used of them: the first 50 of every day, week or month, and the rest',
    request: { query: rankingsDailyQuerySchema, headers: null, body: null },
    responses: { 200: ok(rankingsDailyReplySchema), ...REFUSALS },
    handler: listRankingsDaily,
  },
];
