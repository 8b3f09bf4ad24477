import type { GenerationRecord } from '../../api/contract.ts';

/** A stretch of time in milliseconds after the request came in. */
export interface Bar {
  readonly kind: 'wait' | 'strm' | 'fail' | 'tool' | 'gate' | 'sum';
  readonly fromMs: number;
  readonly toMs: number;
}

/** One line of a waterfall. */
export interface WaterfallRow {
  readonly kind: 'gateway' | 'leg' | 'attempt' | 'tool';
  readonly title: string;
  readonly detail: string;
  /** Set for a failure: a status or a word. */
  readonly failure: string | null;
  readonly bars: readonly Bar[];
}

export interface WaterfallPlan {
  readonly totalMs: number;
  readonly rows: readonly WaterfallRow[];
}

/** An upstream call as a record has it. */
interface Call {
  readonly provider_name?: unknown;
  readonly endpoint_id?: unknown;
  readonly status?: unknown;
  readonly latency?: unknown;
  readonly started_ms?: unknown;
  readonly leg?: unknown;
}

/** Lowest status of a failed attempt. */
const FIRST_FAILURE_STATUS = 400;

/** Legs, attempts and tool calls of a generation along its time. */
export function waterfallOf(record: GenerationRecord): WaterfallPlan {
  const createdMs = Date.parse(record.created_at);
  const after = (moment: string | null) =>
    moment === null ? 0 : Math.max(0, Date.parse(moment) - createdMs);
  const endMs = after(record.ended_at);
  const calls = (record.provider_responses ?? []) as readonly Call[];
  const legs = record.legs.map((leg) => {
    const fromMs = after(leg.started_at);
    // A record of one leg counts the wait for its first content twice: no leg outlasts its generation.
    return { ...leg, fromMs, toMs: Math.min(endMs, fromMs + (leg.duration_ms ?? endMs)) };
  });
  const toolEnds = record.tool_calls.map((call) => after(call.started_at) + (call.duration_ms ?? 0));
  const totalMs = Math.max(1, endMs, ...legs.map(({ toMs }) => toMs), ...toolEnds);
  const firstCallMs = firstCallOf(record, calls, legs[0]?.fromMs ?? 0);
  const hasBrackets = legs.length > 1 || record.tool_calls.length > 0;
  const rows = legs.flatMap((leg, index) => {
    const number = index + 1;
    const ofLeg = calls.filter((call) => numberOr(call.leg, 1) === number);
    const bracket: WaterfallRow = {
      kind: 'leg',
      title: leg.kind === 'main' ? `Leg ${number}` : `Leg ${number}, ${leg.kind}`,
      detail: `${leg.tokens_prompt ?? 0} → ${leg.tokens_completion ?? 0}`,
      failure: leg.status === 'failed' ? 'failed' : null,
      bars: [{ kind: 'sum', fromMs: leg.fromMs, toMs: leg.toMs }],
    };
    return [
      ...(hasBrackets ? [bracket] : []),
      ...ofLeg.map((call) => attemptRow(call, firstCallMs, leg.toMs)),
      ...record.tool_calls
        .filter((call) => call.leg === number)
        .map((call) => toolRow(call, after(call.started_at))),
    ];
  });
  return { totalMs, rows: firstCallMs > 0 && calls.length > 0 ? [admission(firstCallMs), ...rows] : rows };
}

/** When the first upstream call began. Records of one leg say it by their time to the first content. */
function firstCallOf(
  { latency, legs }: GenerationRecord,
  calls: readonly Call[],
  firstLegMs: number,
): number {
  const last = calls.at(-1);
  if (legs.length !== 1 || latency === null || last === undefined) return firstLegMs;
  return Math.max(0, latency - numberOr(last.started_ms, 0) - numberOr(last.latency, 0));
}

function admission(toMs: number): WaterfallRow {
  return {
    kind: 'gateway',
    title: 'Admit, plan',
    detail: '',
    failure: null,
    bars: [{ kind: 'gate', fromMs: 0, toMs }],
  };
}

function attemptRow(call: Call, firstCallMs: number, legEndMs: number): WaterfallRow {
  const fromMs = firstCallMs + numberOr(call.started_ms, 0);
  const answeredMs = fromMs + numberOr(call.latency, 0);
  const status = numberOr(call.status, 0);
  const isFailed = status >= FIRST_FAILURE_STATUS;
  const name = typeof call.provider_name === 'string' ? call.provider_name : 'endpoint';
  return {
    kind: 'attempt',
    title: name,
    detail: typeof call.endpoint_id === 'string' && call.endpoint_id !== name ? call.endpoint_id : '',
    failure: isFailed ? String(status) : null,
    bars: isFailed
      ? [{ kind: 'fail', fromMs, toMs: answeredMs }]
      : [
          { kind: 'wait', fromMs, toMs: answeredMs },
          { kind: 'strm', fromMs: answeredMs, toMs: Math.max(answeredMs, legEndMs) },
        ],
  };
}

function toolRow(call: GenerationRecord['tool_calls'][number], fromMs: number): WaterfallRow {
  const toMs = fromMs + (call.duration_ms ?? 0);
  const isFailed = call.outcome !== 'ok';
  return {
    kind: 'tool',
    title: call.name ?? 'tool',
    detail: call.error ?? '',
    failure: isFailed ? call.outcome : null,
    bars: [{ kind: isFailed ? 'fail' : 'tool', fromMs, toMs }],
  };
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
