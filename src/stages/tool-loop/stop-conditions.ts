import type { FinishReason } from '../../ir/events.ts';
import type { RoutingWishes } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, stringAt } from '../../kit/json/members.ts';
import { MAX_USD, type Nanos, nanosOf } from '../../kit/money.ts';

export interface LoopProgress {
  /** Legs whose calls of server tools were run. */
  readonly steps: number;
  readonly called: ReadonlySet<string>;
  /** Tokens of all legs. */
  readonly tokens: number;
  /** Cost of all legs and charges. */
  readonly nanos: Nanos;
  readonly dearestLegNanos: Nanos;
  /** Cost of the dearest step so far: its leg with its calls. */
  readonly dearestStepNanos: Nanos;
  readonly finish: FinishReason;
}

/** A condition that ends a loop; its name stands in the pipeline. */
interface StopCondition {
  readonly name: string;
  isMet(progress: LoopProgress): boolean;
}

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
  // A hard limit is never passed, so a step and an answer in text must both fit into what is left.
  max_cost: (members) => {
    const most = costOf(members);
    if (most === undefined) return () => false;
    return isHard(members)
      ? ({ nanos, dearestStepNanos }) => nanos >= most || most - nanos < dearestStepNanos * 2n
      : ({ nanos, dearestLegNanos }) => nanos >= most || nanos + dearestLegNanos > most;
  },
  finish_reason_is: (members) => {
    const reason = stringAt(members, 'reason');
    return ({ finish }) => (REASON_WORDS[finish] ?? finish) === reason;
  },
};

export const MAX_COST = 'max_cost';

function costOf(members: JsonObject): Nanos | undefined {
  const dollars = members.type === MAX_COST ? numberAt(members, 'max_cost_in_dollars') : undefined;
  return dollars === undefined ? undefined : nanosOf(Math.min(dollars, MAX_USD));
}

function isHard({ type, hard }: JsonObject): boolean {
  return type === MAX_COST && hard === true;
}

/** True if a request names a condition that only a loop of server tools can meet. */
export function hasLoopConditions({ stopServerToolsWhen = [] }: RoutingWishes): boolean {
  return stopServerToolsWhen.some((members) => !isHard(members));
}

/** What a generation may cost at most: the lowest hard `max_cost_in_dollars`. Undefined = the request has none. */
export function hardMaxCostOf({ stopServerToolsWhen }: RoutingWishes): Nanos | undefined {
  let least: Nanos | undefined;
  for (const members of stopServerToolsWhen ?? []) {
    const cost = isHard(members) ? costOf(members) : undefined;
    if (cost !== undefined && (least === undefined || cost < least)) least = cost;
  }
  return least;
}

/** The conditions that hold for all legs of a generation, those of nested loops too. */
function costConditions({ stopServerToolsWhen = [] }: RoutingWishes): readonly JsonObject[] {
  return stopServerToolsWhen.filter(({ type }) => type === MAX_COST);
}

/** True if no server tool may run. */
export function forbidsSteps({ stopServerToolsWhen, maxToolCalls }: RoutingWishes): boolean {
  return stopServerToolsWhen === undefined && maxToolCalls === 0;
}

/** The conditions of a request. Those that it names replace `max_tool_calls`, but never the operator's limit. */
export class StopConditions {
  readonly #conditions: readonly StopCondition[];
  readonly #costs: readonly JsonObject[];

  /** `outer`: the conditions of the loop that runs this one for a tool; its limits of cost hold here too. */
  constructor(wishes: RoutingWishes, mostSteps: number, vendor: string, outer?: StopConditions) {
    const { stopServerToolsWhen: named, maxToolCalls } = wishes;
    const most = named === undefined ? Math.min(maxToolCalls ?? mostSteps, mostSteps) : mostSteps;
    this.#costs = outer === undefined ? costConditions(wishes) : outer.#costs;
    this.#conditions = [
      { name: most < mostSteps ? 'max_tool_calls' : 'steps', isMet: ({ steps }) => steps >= most },
      ...[...(named ?? []), ...(outer === undefined ? [] : outer.#costs)].flatMap(
        (members): StopCondition[] => {
          const name = stringAt(members, 'type') ?? '';
          const isMet = CONDITIONS[name]?.(members, vendor);
          return isMet === undefined ? [] : [{ name, isMet }];
        },
      ),
    ];
  }

  /** True if what was paid before the first leg has cost the amount of a condition already. */
  isPaidUp(nanos: Nanos): boolean {
    return nanos > 0n && this.#costs.some((members) => nanos >= (costOf(members) ?? nanos + 1n));
  }

  /** The first condition that is met; undefined = the loop goes on. */
  met(progress: LoopProgress): string | undefined {
    return this.#conditions.find(({ isMet }) => isMet(progress))?.name;
  }
}
