import type { OpaqueItem } from '../../../ir/items.ts';
import { objectsAt, stringAt } from '../../../kit/json/members.ts';
import type { Report } from '../report/report.ts';

/** The item of the responses format that declares tools in the middle of a conversation. */
export const ADDITIONAL_TOOLS = 'additional_tools';

/** Tools that the caller runs, by their type in the responses format. */
export const CALLABLE_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace']);

/** Reports the tools of such an item that another provider runs; the others are among the request's own. */
export function reportAdditionalTools(item: OpaqueItem, report: Report): void {
  for (const [index, tool] of objectsAt(item.value, 'tools').entries()) {
    if (CALLABLE_TOOLS.has(tool.type)) continue;
    report.dropped(report.place(item, 'items', `tools[${index}]`), notRun(stringAt(tool, 'type') ?? ''));
  }
}

/** Why a tool of another format does not go out. */
export function notRun(kind: string): string {
  return `the upstream does not run tools of type ${kind}`;
}
