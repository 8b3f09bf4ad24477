import { activityQuerySchema, activityReplySchema } from '../contract/analytics/activity.ts';
import {
  analyticsMetaSchema,
  analyticsQuerySchema,
  analyticsReplySchema,
} from '../contract/analytics/analytics.ts';
import { overviewQuerySchema, overviewReplySchema } from '../contract/analytics/overview.ts';
import { analyticsMeta, analyticsNames } from '../manage/analytics/analytics-names.ts';
import { furtherAnalyticsIssues } from '../manage/analytics/parse-analytics-query.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';

const ANALYTICS = { tag: 'Analytics', rateClass: 'analytics' } as const;

/** Usage of an account, for one vendor word. */
export function analyticsEndpoints(vendor: string): readonly AnyEndpoint[] {
  return [
    endpoint({
      ...ANALYTICS,
      method: 'GET',
      path: '/analytics/meta',
      operationId: 'getAnalyticsMeta',
      summary: 'Metrics, dimensions, operators and granularities',
      permission: 'analytics.read',
      reply: analyticsMetaSchema,
      run: ({ settings }) => ({ data: analyticsMeta(settings.vendor) }),
    }),
    endpoint({
      ...ANALYTICS,
      method: 'POST',
      path: '/analytics/query',
      operationId: 'queryAnalytics',
      summary: 'Usage of the account, summed up',
      permission: 'analytics.read',
      body: analyticsQuerySchema(analyticsNames(vendor)),
      furtherIssues: (valid, { clock }) => furtherAnalyticsIssues(valid, { vendor, nowMs: clock.now() }),
      reply: analyticsReplySchema,
      readsEvents: true,
      run: async ({ services, settings, caller, body, signal }) => ({
        data: await services.analytics.query(body, {
          accountId: caller.accountId,
          vendor: settings.vendor,
          signal,
        }),
      }),
    }),
    endpoint({
      ...ANALYTICS,
      method: 'GET',
      path: '/activity',
      operationId: 'getActivity',
      summary: 'The last 30 completed UTC days by model and endpoint',
      permission: 'analytics.read',
      query: activityQuerySchema,
      reply: activityReplySchema,
      refusals: [404],
      readsEvents: true,
      run: async ({ services, caller, query, signal }) => ({
        data: await services.activity.list(caller.accountId, query, signal),
      }),
    }),
    endpoint({
      ...ANALYTICS,
      method: 'GET',
      path: '/overview',
      operationId: 'getOverview',
      summary: 'Figures of a range by time and group, compared with the period before and with the ledger',
      permission: 'overview.read',
      query: overviewQuerySchema,
      reply: overviewReplySchema,
      refusals: [403],
      readsEvents: true,
      run: async ({ services, caller: { accountId, key }, query, signal }) => ({
        data: await services.overview.read(
          { accountId, keyHash: key.isManagement ? null : key.hash },
          query,
          signal,
        ),
      }),
    }),
  ];
}
