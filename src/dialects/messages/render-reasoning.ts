import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt } from '../../kit/json/members.ts';
import {
  type ClaudeThinking,
  interruptsThoughts,
  lowered,
  OFF,
  possibleBudget,
  renderClaudeThinking,
  roomFor,
  sentLimit,
} from '../shared/reasoning/claude-thinking.ts';
import type { RenderContext } from './render-context.ts';
import { takes } from './render-losses.ts';

/** `messages`: the rendered turns, which may forbid thinking. */
export function renderReasoning(context: RenderContext, messages: readonly JsonObject[]): ClaudeThinking {
  return renderClaudeThinking(context, takes('reasoning', context.target), () => isInterrupting(messages));
}

/** True if the messages continue after tool calls whose thoughts are missing. */
function isInterrupting(messages: readonly JsonObject[]): boolean {
  return interruptsThoughts(
    messages,
    (message) => THOUGHTS.has(blockTypes(message)[0]),
    (message) => blockTypes(message).includes('tool_result'),
  );
}

const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

function blockTypes(message: JsonObject): unknown[] {
  const content = Array.isArray(message.content) ? message.content : [];
  return content.map((block) => (isJsonObject(block) ? block.type : undefined));
}

// --- Relay lane -----------------------------------------------------------------------------------------------------

/**
 * Members of a relayed body for thinking and the output limit; `thinking` only if it must change. `messages`: the
 * caller's own, or the rest of them.
 */
export function relayReasoning(
  context: RenderContext,
  messages: readonly JsonObject[],
): { readonly max_tokens: number; readonly thinking?: JsonObject } {
  const { request, report } = context;
  const limit = sentLimit(context);
  const thinking = objectAt(request.body, 'thinking');
  const wanted = thinking?.type === 'enabled' ? numberAt(thinking, 'budget_tokens') : undefined;
  if (wanted === undefined) return { max_tokens: limit };
  const max_tokens = roomFor(wanted, limit, context);
  // Only messages that the gateway changed are checked: the upstream judges those that the caller wrote.
  const cut = messages === (request.body.messages as unknown) ? [] : messages;
  const budget = possibleBudget(wanted, max_tokens, request, () => isInterrupting(cut));
  if (typeof budget !== 'number') {
    report.coerced('thinking', budget.obstacle);
    return { max_tokens: limit, thinking: OFF };
  }
  if (budget === wanted) return { max_tokens };
  report.coerced('thinking.budget_tokens', lowered(budget));
  return { max_tokens, thinking: { ...thinking, budget_tokens: budget } };
}
