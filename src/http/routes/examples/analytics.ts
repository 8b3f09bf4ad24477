import type { ActivityRow } from '../../../contract/analytics/activity.ts';
import type { AnalyticsAnswer, AnalyticsMeta } from '../../../contract/analytics/analytics.ts';
import type { AppRankingsReply } from '../../../contract/analytics/dataset-app-rankings.ts';
import type { RankingsDailyReply } from '../../../contract/analytics/dataset-rankings-daily.ts';
import type { RouteExample } from '../../route.ts';

const WINDOW = {
  as_of: '2026-11-17T05:17:12.735Z',
  start_date: '2026-10-17',
  end_date: '2026-11-16',
  version: 'v1',
} satisfies AppRankingsReply['meta'];

/** Usage of an account, and of all accounts together. */
export const ANALYTICS_EXAMPLES = {
  getAnalyticsMeta: {
    answer: {
      data: {
        metrics: [
          {
            name: 'request_count',
            display_label: 'Request Count',
            display_format: 'number',
            is_rate: false,
          },
        ],
        dimensions: [{ name: 'model', display_label: 'Model' }],
        operators: [{ name: 'eq', value_type: 'scalar' }],
        granularities: [{ name: 'day', display_label: 'Day' }],
      } satisfies AnalyticsMeta,
    },
  },
  queryAnalytics: {
    body: { metrics: ['request_count', 'total_usage'], dimensions: ['model'], granularity: 'day' },
    answer: {
      data: {
        data: [
          {
            date__day: '2026-11-17T00:00:00.000Z',
            model: 'simulator/standard',
            request_count: 3,
            total_usage: 0.000336,
          },
        ],
        metadata: { query_time_ms: 9, row_count: 1, truncated: false },
      } satisfies AnalyticsAnswer,
    },
  },
  getActivity: {
    answer: {
      data: [
        {
          date: '2026-11-16',
          model: 'simulator/standard',
          model_permaslug: 'simulator/standard',
          endpoint_id: 'simulator',
          provider_name: 'Simulator',
          usage: 0.000336,
          byok_usage_inference: 0,
          requests: 3,
          prompt_tokens: 12,
          completion_tokens: 81,
          reasoning_tokens: 0,
        },
      ] satisfies ActivityRow[],
    },
  },
  getAppRankings: {
    query: { sort: 'popular', limit: '10' },
    answer: {
      data: [{ app_id: 1, app_name: 'Chat app', rank: 1, total_requests: 1204, total_tokens: '3810442' }],
      meta: WINDOW,
    } satisfies AppRankingsReply,
  },
  getRankingsDaily: {
    query: { period: 'week' },
    answer: {
      data: [{ date: '2026-11-09', model_permaslug: 'simulator/standard', total_tokens: '3810442' }],
      meta: WINDOW,
    } satisfies RankingsDailyReply,
  },
} as const satisfies Record<string, RouteExample>;
