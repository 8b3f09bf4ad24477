import type { GenerationRecord } from '../../../api/contract.ts';
import { count, counted, percent } from '../../../format/numbers.ts';
import { duration } from '../../../format/times.ts';
import { type TimePart, type TimeUse, timePartsOf } from '../../../parts/waterfall/time-parts.ts';
import type { WaterfallPlan, WaterfallRow } from '../../../parts/waterfall/waterfall-rows.ts';

/** Parts below this share of the whole are not worth a word. */
const LEAST_SHARE = 0.05;

/** Why a generation took as long as it did: what took longest, and what else did. Null = nothing is on record. */
export interface WhereTimeWent {
  readonly first: string;
  readonly others: readonly string[];
}

export function whereTimeWent(
  record: Pick<GenerationRecord, 'tokens_completion' | 'streamed'>,
  plan: WaterfallPlan,
): WhereTimeWent | null {
  if (plan.rows.length === 0) return null;
  const [longest, ...rest] = timePartsOf(plan);
  if (longest === undefined) return null;
  const worded = (part: TimePart): string => WORDS[part.use](part, record);
  return {
    first: `${duration(longest.ms)} of ${duration(plan.totalMs)} (${percent(longest.ms / plan.totalMs, 0)}) were spent ${worded(longest)}.`,
    others: rest
      .filter(({ ms }) => ms / plan.totalMs >= LEAST_SHARE)
      .map((part) => `${duration(part.ms)} ${worded(part)}`),
  };
}

type Words = (part: TimePart, record: Pick<GenerationRecord, 'tokens_completion' | 'streamed'>) => string;

const WORDS: Readonly<Record<TimeUse, Words>> = {
  gateway: () => 'in the gateway, before the first call: limits, guardrails, plugins and routing',
  waiting: ({ rows }, { streamed }) =>
    `waiting for ${streamed ? 'the first token' : 'the answer'} of ${namesOf(rows)}`,
  streaming: ({ rows, ms }, { tokens_completion: tokens }) =>
    tokens === null || tokens === 0
      ? `receiving the answer of ${namesOf(rows)}`
      : `receiving ${count(tokens)} tokens of ${namesOf(rows)}, ${Math.round((tokens * 1_000) / ms)} a second`,
  failed: ({ rows }) =>
    `in ${counted(rows.length, 'attempt')} that failed (${rows.map(failureOf).join(', ')})`,
  tools: ({ rows }) => `running server tools (${namesOf(rows)})`,
  other: () => 'in the gateway, between the calls and after them',
};

function namesOf(rows: readonly WaterfallRow[]): string {
  return [...new Set(rows.map(({ title }) => title))].join(', ');
}

function failureOf({ title, failure }: WaterfallRow): string {
  return failure === null ? title : `${title} ${failure}`;
}
