import type { Tool } from '../../ir/request.ts';
import type { SearchRules } from '../dialect.ts';

type HostedTool = Extract<Tool, { type: 'hosted' }>;

/** Whether the upstream runs a tool by itself. */
export function isOwnTool(tool: Tool): tool is HostedTool {
  return tool.type === 'hosted' && tool.dialect === 'gemini';
}

/** The upstream searches by a tool that it runs itself. It takes no limit. */
export const searches: SearchRules = {
  asked: ({ tools }) => (tools.some(isOwnTool) ? Number.POSITIVE_INFINITY : 0),
};
