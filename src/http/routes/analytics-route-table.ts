import { activityQuerySchema, activityReplySchema } from '../../contract/activity.ts';
import { analyticsMetaSchema, analyticsQuerySchema, analyticsReplySchema } from '../../contract/analytics.ts';
import { errorEnvelopeSchema } from '../../contract/error-envelope.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { analyticsNames } from '../../manage/analytics/analytics-names.ts';
import { furtherAnalyticsIssues } from '../../manage/analytics/parse-analytics-query.ts';
import { type ErrorStatus, errors, ok } from '../openapi/route-responses.ts';
import { listActivity, queryAnalytics, showAnalyticsMeta } from './analytics-routes.ts';
import type { Route } from './route.ts';

const NOTHING_DECLARED = { query: null, headers: null, body: null } as const;

const ANALYTICS = {
  mount: 'api',
  tag: 'Analytics',
  auth: 'management',
  rateClass: 'analytics',
  encodeError: encodeEnvelope,
} as const;

/** Refusals of every operation here, and others. */
function refusals(...others: readonly ErrorStatus[]) {
  return errors(errorEnvelopeSchema, [401, 403, 429, 500, ...others]);
}

/** What an account used, for one vendor word. */
export function analyticsRoutes(vendor: string): readonly Route[] {
  return [
    {
      ...ANALYTICS,
      method: 'GET',
      path: '/analytics/meta',
      operationId: 'getAnalyticsMeta',
      summary: 'Metrics, dimensions, operators and granularities',
      request: NOTHING_DECLARED,
      responses: { 200: ok(analyticsMetaSchema), ...refusals() },
      handler: showAnalyticsMeta,
    },
    {
      ...ANALYTICS,
      method: 'POST',
      path: '/analytics/query',
      operationId: 'queryAnalytics',
      summary: 'Usage of the account, summed up',
      request: {
        ...NOTHING_DECLARED,
        body: analyticsQuerySchema(analyticsNames(vendor)),
        furtherIssues: (valid, { clock }) => furtherAnalyticsIssues(valid, { vendor, nowMs: clock.now() }),
      },
      responses: { 200: ok(analyticsReplySchema), ...refusals(400, 408, 413, 415, 503) },
      handler: queryAnalytics,
    },
    {
      ...ANALYTICS,
      method: 'GET',
      path: '/activity',
      operationId: 'getActivity',
      summary: 'The last 30 completed UTC days by model and endpoint',
      request: { ...NOTHING_DECLARED, query: activityQuerySchema },
      responses: { 200: ok(activityReplySchema), ...refusals(400, 404, 408, 503) },
      handler: listActivity,
    },
  ];
}
