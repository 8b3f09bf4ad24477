import type { Tool } from '../../../ir/request.ts';

export function customToolNames(tools: readonly Tool[]): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
}
