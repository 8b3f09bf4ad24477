import Type from 'typebox';
import { isJsonObject } from '../../kit/json/json.ts';
import { compileValidator } from '../../kit/json/validate.ts';
import type { HealthReport, ReceivedNews, RoutingNews } from '../../ports/shared/routing-memory.ts';

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const milliseconds = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const account = Type.Union([Type.String(), Type.Null()]);
const buckets = Type.Array(Type.Array(count, { minItems: 2, maxItems: 2 }));

/** A report as stores keep it. Members of later versions may stand beside these. */
const reportSchema = Type.Object({
  site: Type.String(),
  account,
  hasSucceeded: Type.Boolean(),
  failures: Type.Array(Type.Object({ account, count })),
  cooldown: Type.Union([Type.Object({ leftMs: milliseconds, round: count, failures: count }), Type.Null()]),
  isBack: Type.Boolean(),
  pauseMs: milliseconds,
  deferralMs: milliseconds,
  measured: Type.Union([
    Type.Object({
      calls: count,
      failures: count,
      failuresOfOne: count,
      toolAnswers: count,
      badToolAnswers: count,
      latency: buckets,
      throughput: buckets,
    }),
    Type.Null(),
  ]),
});

const reports = compileValidator(reportSchema);

/** News as a store keeps it; null = there is none. */
export function newsText(news: RoutingNews): string | null {
  return news.health.length + news.movedPins.length === 0 ? null : JSON.stringify(news);
}

/** News from its text, without what is not of a form that this version knows: others can write to the store. */
export function newsFromText(text: string, ageMs: number): ReceivedNews[] {
  const news = parsed(text);
  if (!isJsonObject(news) || !Array.isArray(news.health) || !Array.isArray(news.movedPins)) return [];
  return [
    {
      health: (news.health as readonly unknown[]).filter(isReport),
      movedPins: news.movedPins.filter((key): key is string => typeof key === 'string'),
      ageMs: Math.max(0, ageMs),
    },
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isReport(report: unknown): report is HealthReport {
  return reports.issuesOf(report).length === 0;
}
