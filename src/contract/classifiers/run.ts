import Type, { type Static } from 'typebox';
import { closed, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD, usdOf } from '../../kit/money.ts';
import { type ClassifierRun, RUN_STATES } from '../../ports/following/classifiers.ts';
import { pageQuery } from '../guardrails/guardrail.ts';
import { isoTime } from '../values/iso-time.ts';
import { nullable } from '../values/nullable.ts';

const moment = (description: string) =>
  Type.String({ maxLength: 64, description: `${description} ISO 8601, with an offset or in UTC.` });

export const startRunSchema = closed({
  time_range: Type.Optional(
    closed(
      { start: moment('The first moment.'), end: moment('The moment after the last one.') },
      { description: 'When the generations were settled; the last 31 days without it.' },
    ),
  ),
  budget_usd: Type.Optional(
    nullable(Type.Number({ exclusiveMinimum: 0, maximum: MAX_USD }), {
      description: 'The most that the run may spend; null = no limit besides the monthly budget.',
    }),
  ),
});

export type StartRun = Static<typeof startRunSchema>;

export const runsQuerySchema = Type.Object(pageQuery);

export type RunsQuery = Static<typeof runsQuerySchema>;

const time = Type.String({ format: 'date-time' });

export const classifierRunSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    classifier_id: Type.String({ format: 'uuid' }),
    state: oneOf(RUN_STATES, {
      description: '`stopped`: a budget is spent, or it was stopped. `failed`: it could not go on.',
    }),
    time_range: Type.Object({ start: time, end: time }),
    budget_usd: nullable(Type.Number()),
    spent_usd: Type.Number(),
    seen: Type.Integer({ description: 'Generations of the workspace that it has looked at.' }),
    tagged: Type.Integer({ description: 'Of these, those that are classified now.' }),
    without_content: Type.Integer({ description: 'Of these, those without prompt and answer.' }),
    failed: Type.Integer({ description: 'Of these, those that the model has failed at.' }),
    problem: nullable(Type.String(), {
      description: 'Why it ended early, or what it waits for; null = nothing.',
    }),
    created_at: time,
    updated_at: time,
  },
  { description: 'A classifier over generations of the past.' },
);

export type ClassifierRunObject = Static<typeof classifierRunSchema>;

export const runReplySchema = Type.Object({ data: classifierRunSchema });

export const runListSchema = Type.Object({
  data: Type.Array(classifierRunSchema),
  total_count: Type.Integer({ description: 'All, on every page.' }),
});

export function runObject(run: ClassifierRun): ClassifierRunObject {
  const { budgetNanos, progress } = run;
  return {
    id: run.id,
    classifier_id: run.classifierId,
    state: progress.state,
    time_range: { start: isoTime(run.fromMs), end: isoTime(run.toMs) },
    budget_usd: budgetNanos === null ? null : usdOf(budgetNanos),
    spent_usd: usdOf(progress.spentNanos),
    seen: progress.seen,
    tagged: progress.tagged,
    without_content: progress.withoutContent,
    failed: progress.failed,
    problem: progress.problem,
    created_at: isoTime(run.createdAtMs),
    updated_at: isoTime(progress.updatedAtMs),
  };
}
