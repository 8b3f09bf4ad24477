import type { ActivityRow } from '../../../contract/analytics/activity.ts';
import type { AnalyticsAnswer, AnalyticsMeta } from '../../../contract/analytics/analytics.ts';
import type { AppRankingsReply } from '../../../contract/analytics/dataset-app-rankings.ts';
import type { RankingsDailyReply } from '../../../contract/analytics/dataset-rankings-daily.ts';
import type { Overview, OverviewFigures, OverviewSums } from '../../../contract/analytics/overview.ts';
import type { RouteExample } from '../../route.ts';

const WINDOW = {
  as_of: '2026-11-17T05:17:12.735Z',
  start_date: '2026-10-17',
  end_date: '2026-11-16',
  version: 'v1',
} satisfies AppRankingsReply['meta'];

const FIGURES = {
  total_usage: 0.000336,
  request_count: 3,
  tokens_total: 93,
  error_count: 0,
  cache_hit_rate: 0.25,
  usage_cache: 0.000012,
  p50_latency: 612,
  p90_latency: 1204,
  p99_latency: 4070,
  p50_duration: 2310,
  p90_duration: 7120,
  p99_duration: 19400,
} satisfies OverviewFigures;

const NO_SUMS = { total_usage: 0, request_count: 0, tokens_total: 0, error_count: 0 } satisfies OverviewSums;

const NO_FIGURES = {
  ...NO_SUMS,
  cache_hit_rate: null,
  usage_cache: 0,
  p50_latency: null,
  p90_latency: null,
  p99_latency: null,
  p50_duration: null,
  p90_duration: null,
  p99_duration: null,
} satisfies OverviewFigures;

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
  getOverview: {
    query: { from: '2026-11-16T15:00:00Z', to: '2026-11-17T15:00:00Z', by: 'model' },
    answer: {
      data: {
        from: '2026-11-16T15:00:00.000Z',
        to: '2026-11-17T15:00:00.000Z',
        before_from: '2026-11-15T15:00:00.000Z',
        granularity: 'hour',
        by: 'model',
        now: FIGURES,
        before: NO_FIGURES,
        series: [{ date: '2026-11-17T14:00:00.000Z', ...FIGURES }],
        series_before: [],
        groups: [{ id: 'simulator/standard', name: 'simulator/standard', now: FIGURES, before: NO_SUMS }],
        group_count: 1,
        stacks: [
          {
            date: '2026-11-17T14:00:00.000Z',
            id: 'simulator/standard',
            total_usage: 0.000336,
            request_count: 3,
            tokens_total: 93,
            error_count: 0,
          },
        ],
        errors: [],
        ledger: {
          state: 'agrees',
          booked: 0.000336,
          counted: 0.000336,
          difference: 0,
          imported: 0,
          newest_generation_at: '2026-11-17T14:59:57.902Z',
        },
        written_off: [],
        query_time_ms: 38,
      } satisfies Overview,
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
