import type { Format, ToolCallItem } from '../../../ir/items.ts';
import type { CallableTool } from '../../../ir/request.ts';
import type { Report } from './report.ts';

/** Where a thing that the caller wrote stands in the caller's own format, as reports name it. */

/** Member of a part: the chat format wraps what a part holds. */
export function partMember(format: Format, wrapper: string, member: string): string {
  return format === 'chat' ? `${wrapper}.${member}` : member;
}

/** Member that holds the name of a file. */
export function fileNameMember(format: Format): string {
  return format === 'messages' ? 'title' : partMember(format, 'file', 'filename');
}

/** The input of a call. */
export function callInputPlace(item: ToolCallItem, format: Format, report: Report): string {
  const place = report.place(item, 'items');
  if (format === 'messages') return `${place}.input`;
  const isLegacy = place.endsWith('function_call');
  return `${place}.${isLegacy ? 'arguments' : partMember(format, 'function', 'arguments')}`;
}

/** The seal of a call: the chat format keeps it beside the calls. */
export function callSealPlace(item: ToolCallItem, format: Format, report: Report): string {
  const place = report.place(item, 'items');
  return format === 'chat'
    ? `${place.replace(/\.tool_calls\[\d+\]$/, '')}.reasoning_details`
    : `${place}.signature`;
}

/** A member of what a tool declares, which the chat format wraps. */
export function toolMemberPlace(tool: CallableTool, member: string, format: Format, report: Report): string {
  return report.place(tool, 'tools', format === 'chat' ? `${tool.type}.${member}` : member);
}

/** The group of a tool: `tools[1]` of `tools[1].tools[0]`. */
export function toolGroupPlace(tool: CallableTool, report: Report): string {
  return report.place(tool, 'tools').replace(/\.tools\[\d+\]$/, '');
}
