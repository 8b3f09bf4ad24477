import type { OpaqueItem } from '../../../ir/items.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { objectsAt, textAt } from '../../../kit/json/members.ts';
import type { Report } from '../report/report.ts';

/** The item of the responses format that declares tools during a conversation. */
export const ADDITIONAL_TOOLS = 'additional_tools';

/** Types of items with tools that the model may call from then on. */
export const ADDING_TOOLS: ReadonlySet<unknown> = new Set([ADDITIONAL_TOOLS, 'tool_search_output']);

/** Tools that the caller runs, by their type in the responses format. */
export const CALLABLE_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace']);

/**
 * True for an item of an earlier answer: an upstream wrote it, so that it must not have the gateway run tools. Items
 * that callers write have no id.
 */
export function isOfAnswer(item: JsonObject): boolean {
  return textAt(item, 'id') !== undefined;
}

/** Why a tool of an item of an answer does not count. */
export const NOT_OF_CALLER = 'the item is one of an answer: of these only tools that the caller runs count';

/** True for a tool that the caller runs and that a model can name, and for a group of such tools. */
export function isCallable(tool: JsonObject): boolean {
  return CALLABLE_TOOLS.has(tool.type) && textAt(tool, 'name') !== undefined;
}

/** An upstream's item without tools that the gateway would run if it came back. Returns the same if it has none. */
export function withCallableTools(item: JsonObject): JsonObject {
  const tools = objectsAt(item, 'tools');
  const kept = tools
    .filter(isCallable)
    .map((tool) => (tool.type === 'namespace' ? withCallableTools(tool) : tool));
  const isSame = Array.isArray(item.tools) && item.tools.length === kept.length;
  return isSame && kept.every((tool, index) => tool === tools[index]) ? item : { ...item, tools: kept };
}

/** True for types of the form `<vendor>:*`: tools that a gateway runs, never an upstream. */
export function isVendorType(type: string): boolean {
  return /^[\w-]+:/.test(type);
}

/** Reports that the tools of such an item are offered from the start; they are among the request's own. */
export function reportToolsFromStart(item: OpaqueItem, report: Report): void {
  if (!objectsAt(item.value, 'tools').some(({ type }) => CALLABLE_TOOLS.has(type))) return;
  report.coerced(report.place(item, 'items'), 'its tools are offered from the start of the conversation');
}

/** Why a tool of another format is not sent. */
export function notRun(kind: string): string {
  return `the upstream does not run tools of type ${kind}`;
}
