import type { FinishReason } from '../../ir/events.ts';
import type { RoutingWishes } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, stringAt } from '../../kit/json/members.ts';
import { MAX_USD, type Nanos, nanosOf } from '../../kit/money.ts';

/** How far a loop has come. */
export interface LoopProgress {
  /** Legs whose calls of server tools were run. */
  readonly steps: number;
  /** Short names of the tools that were called. */
  readonly called: ReadonlySet<string>;
  /** Tokens of all legs. */
  readonly tokens: number;
  /** Cost of all legs and charges. */
  readonly nanos: Nanos;
  /** Cost of the dearest step so far. */
  readonly dearestNanos: Nanos;
  /** The end of the last leg. */
  readonly finish: FinishReason;
}

/** A condition that ends a loop; its name stands in the pipeline. */
interface StopCondition {
  readonly name: string;
  isMet(progress: LoopProgress): boolean;
}

/** Finish reasons as requests name them. */
const REASON_WORDS: Partial<Record<FinishReason, string>> = {
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
};

type ConditionOf = (members: JsonObject, vendor: string) => StopCondition['isMet'];

/** Conditions of `stop_server_tools_when`, by their type. */
const CONDITIONS: Readonly<Record<string, ConditionOf>> = {
  step_count_is: (members) => {
    const most = numberAt(members, 'step_count') ?? Number.POSITIVE_INFINITY;
    return ({ steps }) => steps >= most;
  },
  has_tool_call: (members, vendor) => {
    const name = stringAt(members, 'tool_name') ?? '';
    const short = name.startsWith(`${vendor}:`) ? name.slice(vendor.length + 1) : name;
    return ({ called }) => called.has(short);
  },
  max_tokens_used: (members) => {
    const most = numberAt(members, 'max_tokens') ?? Number.POSITIVE_INFINITY;
    return ({ tokens }) => tokens > most;
  },
  // Legs and charges are bounded by what is left, so that it is never passed. What is left for an answer in text is
  // the cost of the dearest step.
  max_cost: (members) => {
    const most = costOf(members);
    return ({ nanos, dearestNanos }) => most !== undefined && most - nanos < dearestNanos * 2n;
  },
  finish_reason_is: (members) => {
    const reason = stringAt(members, 'reason');
    return ({ finish }) => (REASON_WORDS[finish] ?? finish) === reason;
  },
};

function costOf(members: JsonObject): Nanos | undefined {
  const dollars = members.type === 'max_cost' ? numberAt(members, 'max_cost_in_dollars') : undefined;
  return dollars === undefined ? undefined : nanosOf(Math.min(dollars, MAX_USD));
}

/** The lowest `max_cost_in_dollars` of a request; undefined = it has none. */
export function maxCostOf({ stopServerToolsWhen = [] }: RoutingWishes): Nanos | undefined {
  const costs = stopServerToolsWhen.flatMap((members) => costOf(members) ?? []);
  return costs.length === 0 ? undefined : costs.reduce((least, cost) => (cost < least ? cost : least));
}

/** True if no server tool may run. */
export function forbidsSteps({ stopServerToolsWhen, maxToolCalls }: RoutingWishes): boolean {
  return stopServerToolsWhen === undefined && maxToolCalls === 0;
}

/** The conditions of a request. Those that it names replace `max_tool_calls`, but never the operator's limit. */
export class StopConditions {
  readonly #conditions: readonly StopCondition[];

  constructor(wishes: RoutingWishes, mostSteps: number, vendor: string) {
    const { stopServerToolsWhen: named, maxToolCalls } = wishes;
    const most = named === undefined ? Math.min(maxToolCalls ?? mostSteps, mostSteps) : mostSteps;
    this.#conditions = [
      { name: most < mostSteps ? 'max_tool_calls' : 'steps', isMet: ({ steps }) => steps >= most },
      ...(named ?? []).flatMap((members): StopCondition[] => {
        const name = stringAt(members, 'type') ?? '';
        const isMet = CONDITIONS[name]?.(members, vendor);
        return isMet === undefined ? [] : [{ name, isMet }];
      }),
    ];
  }

  /** The first condition that is met; undefined = the loop goes on. */
  met(progress: LoopProgress): string | undefined {
    return this.#conditions.find(({ isMet }) => isMet(progress))?.name;
  }
}
