import type { OutputItem, ToolCallItem } from '../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import { findExcess, JSON_LIMITS, type Json } from '../../kit/json/json.ts';
import { StepBudget } from '../../kit/json-schema/budget.ts';
import { fitsSchema } from '../../kit/json-schema/schema-check.ts';
import type { TicketSuccess } from './health-ticket.ts';

/** Characters of arguments examined in one answer; calls beyond count as good. */
const MAX_CHARACTERS = 65_536;

/** Steps of schema validation in one answer; calls beyond count as good. */
const MAX_STEPS = 4000;

/**
 * Judges whether the tool calls of an answer can be run: the tool exists, its arguments are JSON and fit its schema.
 * Calls that were cut off are not judged. Takes bounded time for any schemas and arguments.
 */
export function judgeToolCalls(
  { tools }: Pick<GenerationRequest, 'tools'>,
  items: readonly OutputItem[],
): TicketSuccess['toolCalls'] {
  if (!items.some(isCall)) return 'none';
  const calls = items.filter(isCall).filter(isWhole);
  if (calls.length === 0) return 'none';
  const judge = new ToolCallJudge(tools);
  return calls.every((call) => judge.isGood(call)) ? 'good' : 'bad';
}

function isCall(item: OutputItem): item is ToolCallItem {
  return item.type === 'tool-call';
}

function isWhole({ status }: ToolCallItem): boolean {
  return status === undefined || status === 'completed';
}

/** Judges the calls of one answer, which share the limits above. */
class ToolCallJudge {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #budget = new StepBudget(MAX_STEPS);
  #characters = MAX_CHARACTERS;

  constructor(tools: readonly Tool[]) {
    this.#tools = new Map(tools.map((tool) => [nameOf(tool), tool]));
  }

  isGood(call: ToolCallItem): boolean {
    const tool = this.#tools.get(keyOf(call.name, call.namespace));
    if (tool === undefined) return false;
    if (tool.type !== 'function') return true;
    this.#characters -= call.input.length;
    if (this.#characters < 0 || findExcess(call.input, JSON_LIMITS) !== undefined) return true;
    const value = parsed(call.input);
    if (value === undefined) return false;
    return (
      tool.parameters === undefined ||
      fitsSchema(value, tool.parameters, tool.parameters, this.#budget) ||
      // The budget ran out: the result is not valid.
      this.#budget.steps < 0
    );
  }
}

function nameOf(tool: Tool): string {
  return tool.type === 'hosted'
    ? keyOf(String(tool.value.name ?? tool.kind), undefined)
    : keyOf(tool.name, tool.namespace?.name);
}

function keyOf(name: string, namespace: string | undefined): string {
  return JSON.stringify([name, namespace]);
}

/** Empty arguments count as an empty object. */
function parsed(text: string): Json | undefined {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
