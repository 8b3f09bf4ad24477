import type { Item, ToolCallItem } from '../../ir/items.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import { findExcess, JSON_LIMITS, type Json } from '../../kit/json/json.ts';
import { Budget } from '../../kit/json-schema/budget.ts';
import { fitsSchema } from '../../kit/json-schema/schema-check.ts';
import type { TicketSuccess } from './health-ticket.ts';

/** Characters of arguments that are looked at in one answer; what is beyond counts as good. */
const MOST_CHARACTERS = 65_536;

/** Work for comparing arguments with their schemas in one answer; what is beyond counts as good. */
const MOST_STEPS = 4000;

/**
 * Whether the tool calls of an answer can be run: the tool is there, its arguments are JSON and fit its schema. Of
 * calls that were cut off nothing is known. Takes a bounded time, whatever the schemas and arguments are.
 */
export function judgeToolCalls(
  { tools }: Pick<GenerationRequest, 'tools'>,
  items: readonly Item[],
): TicketSuccess['toolCalls'] {
  if (!items.some(isCall)) return 'none';
  const calls = items.filter(isCall).filter(isWhole);
  if (calls.length === 0) return 'none';
  const jury = new Jury(tools);
  return calls.every((call) => jury.isGood(call)) ? 'good' : 'bad';
}

function isCall(item: Item): item is ToolCallItem {
  return item.type === 'tool-call';
}

function isWhole({ status }: ToolCallItem): boolean {
  return status === undefined || status === 'completed';
}

/** Judges the calls of one answer, which share what judging may cost. */
class Jury {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #budget = new Budget(MOST_STEPS);
  #characters = MOST_CHARACTERS;

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
      // What was found when there was no more time to look is no finding.
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

/** A call without arguments is one with an empty object of them. */
function parsed(text: string): Json | undefined {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
