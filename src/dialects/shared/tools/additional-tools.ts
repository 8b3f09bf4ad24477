import type { OpaqueItem } from '../../../ir/items.ts';
import { objectsAt } from '../../../kit/json/members.ts';
import type { Report } from '../report/report.ts';

/** The item of the responses format that declares tools during a conversation. */
export const ADDITIONAL_TOOLS = 'additional_tools';

/** Types of items with tools that the model may call from then on. */
export const ADDING_TOOLS: ReadonlySet<unknown> = new Set([ADDITIONAL_TOOLS, 'tool_search_output']);

/** Tools that the caller runs, by their type in the responses format. */
export const CALLABLE_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace']);

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
