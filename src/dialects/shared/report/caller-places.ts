import type { ToolCallItem } from '../../../ir/items.ts';
import type { CallableTool } from '../../../ir/request.ts';
import type { Report } from './report.ts';

/** Paths in the caller's body, for reports. */

export function callInputPlace(item: ToolCallItem, report: Report): string {
  return report.form.paths.callInput(report.place(item, 'items'));
}

export function callSealPlace(item: ToolCallItem, report: Report): string {
  return report.form.seals.ofCall(report.place(item, 'items'));
}

export function toolMemberPlace(tool: CallableTool, member: string, report: Report): string {
  return report.place(tool, 'tools', report.form.paths.inTool(tool, member));
}

/** The group of a tool: `tools[1]` of `tools[1].tools[0]`. */
export function toolGroupPlace(tool: CallableTool, report: Report): string {
  return report.place(tool, 'tools').replace(/\.tools\[\d+\]$/, '');
}
