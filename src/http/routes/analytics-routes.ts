import type { ActivityQuery } from '../../contract/activity.ts';
import type { AnalyticsQuery } from '../../contract/analytics.ts';
import type { Json } from '../../kit/json/json.ts';
import { encodeSliced, stringifySliced } from '../../kit/json/stringify-sliced.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import { analyticsMeta } from '../../manage/analytics/analytics-names.ts';
import { callerOf } from './caller-of.ts';
import type { Call, Handler } from './route.ts';
import { withinQueryTime } from './within-query-time.ts';

/** `GET /analytics/meta`. */
export const showAnalyticsMeta: Handler = ({ exchange, settings }) => {
  exchange.reply.json(200, { data: analyticsMeta(settings.vendor) });
};

/** `POST /analytics/query`. */
export const queryAnalytics: Handler = async (call) => {
  const { accountId } = callerOf(call);
  const { vendor } = call.settings;
  const answer = await withinQueryTime(call, (signal) =>
    call.services.analytics.query(call.body as AnalyticsQuery, { accountId, vendor, signal }),
  );
  await replyInTurns(call, answer);
};

/** `GET /activity`. */
export const listActivity: Handler = async (call) => {
  const { accountId } = callerOf(call);
  const rows = await withinQueryTime(call, (signal) =>
    call.services.activity.list(accountId, call.query as ActivityQuery, signal),
  );
  await replyInTurns(call, rows);
};

/** There may be ten thousands of rows: others have their turn while they are written. */
async function replyInTurns({ exchange }: Call, data: Json): Promise<void> {
  const pieces = await runInTurns(stringifySliced({ data }));
  exchange.reply.jsonText(200, await runInTurns(encodeSliced(pieces)));
}
