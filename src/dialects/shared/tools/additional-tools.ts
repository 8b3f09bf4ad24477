import type { OpaqueItem } from '../../../ir/items.ts';
import { objectsAt, stringAt } from '../../../kit/json/members.ts';
import type { Report } from '../report/report.ts';

/** The item of the responses format that declares tools during a conversation. */
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

/** The same for dialects that also report that the others are offered from the start. */
export function reportToolsFromStart(item: OpaqueItem, report: Report): void {
  const place = report.place(item, 'items');
  const isCallable = objectsAt(item.value, 'tools').map(({ type }) => CALLABLE_TOOLS.has(type));
  for (const [position, callable] of isCallable.entries()) {
    if (!callable) report.dropped(`${place}.tools[${position}]`, 'the upstream cannot run it');
  }
  if (isCallable.includes(true)) {
    report.coerced(place, 'its tools are offered from the start of the conversation');
  }
}

/** Why a tool of another format is not sent. */
export function notRun(kind: string): string {
  return `the upstream does not run tools of type ${kind}`;
}
