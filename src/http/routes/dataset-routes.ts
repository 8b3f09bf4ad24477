import { type AppRankingsQuery, appRankingsReply } from '../../contract/dataset-app-rankings.ts';
import { type RankingsDailyQuery, rankingsDailyReply } from '../../contract/dataset-rankings-daily.ts';
import { encodeSliced, stringifySliced } from '../../kit/json/stringify-sliced.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import type { Handler } from './route.ts';
import { withinQueryTime } from './within-query-time.ts';

/** `GET /datasets/app-rankings`. */
export const listAppRankings: Handler = async (call) => {
  const { exchange, services, query } = call;
  const rankings = await withinQueryTime(call, (signal) =>
    services.rankings.ofApps(query as AppRankingsQuery, signal),
  );
  exchange.reply.json(200, appRankingsReply(rankings));
};

/** `GET /datasets/rankings-daily`. */
export const listRankingsDaily: Handler = async (call) => {
  const { exchange, services, query } = call;
  const rankings = await withinQueryTime(call, (signal) =>
    services.rankings.ofModels(query as RankingsDailyQuery, signal),
  );
  const pieces = await runInTurns(stringifySliced(rankingsDailyReply(rankings)));
  exchange.reply.jsonText(200, await runInTurns(encodeSliced(pieces)));
};
