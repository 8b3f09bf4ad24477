import {
  type ActivityQuery,
  activityQuerySchema,
  activityReplySchema,
} from '../../contract/analytics/activity.ts';
import {
  type AnalyticsQuery,
  analyticsMetaSchema,
  analyticsQuerySchema,
  analyticsReplySchema,
} from '../../contract/analytics/analytics.ts';
import {
  type OverviewQuery,
  overviewQuerySchema,
  overviewReplySchema,
} from '../../contract/analytics/overview.ts';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import type { ErrorStatus } from '../../contract/envelopes/error-meanings.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import type { Json } from '../../kit/json/json.ts';
import { encodeSliced, stringifySliced } from '../../kit/json/stringify-sliced.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import { analyticsMeta, analyticsNames } from '../../manage/analytics/analytics-names.ts';
import { furtherAnalyticsIssues } from '../../manage/analytics/parse-analytics-query.ts';
import type { Call, Route } from '../route.ts';
import {
  ANALYTICS_WARNING_HEADER,
  analyticsWarning,
  callerOf,
  errors,
  NOTHING_DECLARED,
  ok,
} from './row-parts.ts';
import { withinQueryTime } from './within-query-time.ts';

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

/** Usage of an account, for one vendor word. */
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
      handler: ({ exchange, settings }) => {
        exchange.reply.json(200, { data: analyticsMeta(settings.vendor) });
      },
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
      responseHeaders: ANALYTICS_WARNING_HEADER,
      responses: { 200: ok(analyticsReplySchema), ...refusals(400, 408, 413, 415, 503) },
      handler: async (call) => {
        const { accountId } = callerOf(call);
        const { vendor } = call.settings;
        const headers = analyticsWarning(call);
        const answer = await withinQueryTime(call, (signal) =>
          call.services.analytics.query(call.body as AnalyticsQuery, { accountId, vendor, signal }),
        );
        await replyInTurns(call, answer, headers());
      },
    },
    {
      ...ANALYTICS,
      method: 'GET',
      path: '/activity',
      operationId: 'getActivity',
      summary: 'The last 30 completed UTC days by model and endpoint',
      request: { ...NOTHING_DECLARED, query: activityQuerySchema },
      responseHeaders: ANALYTICS_WARNING_HEADER,
      responses: { 200: ok(activityReplySchema), ...refusals(400, 404, 408, 503) },
      handler: async (call) => {
        const { accountId } = callerOf(call);
        const headers = analyticsWarning(call);
        const rows = await withinQueryTime(call, (signal) =>
          call.services.activity.list(accountId, call.query as ActivityQuery, signal),
        );
        await replyInTurns(call, rows, headers());
      },
    },
    {
      ...ANALYTICS,
      auth: 'any',
      method: 'GET',
      path: '/overview',
      operationId: 'getOverview',
      summary: 'Figures of a range by time and group, compared with the period before and with the ledger',
      request: { ...NOTHING_DECLARED, query: overviewQuerySchema },
      responseHeaders: ANALYTICS_WARNING_HEADER,
      responses: { 200: ok(overviewReplySchema), ...refusals(400, 408, 503) },
      handler: async (call) => {
        const { accountId, key } = callerOf(call);
        const headers = analyticsWarning(call);
        const scope = { accountId, keyHash: key.isManagement ? null : key.hash };
        const overview = await withinQueryTime(call, (signal) =>
          call.services.overview.read(scope, call.query as OverviewQuery, signal),
        );
        await replyInTurns(call, overview, headers());
      },
    },
  ];
}

/** There may be ten thousands of rows: others have their turn while they are written. */
async function replyInTurns(
  { exchange }: Call,
  data: Json,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const pieces = await runInTurns(stringifySliced({ data }));
  exchange.reply.jsonText(200, await runInTurns(encodeSliced(pieces)), headers);
}
