import type { Tool } from '../../ir/request.ts';
import type { HostedTool } from '../shared/requests/native-search.ts';
import { type AskedTool, type HostedTools, NO_TOOLS_ASKED, UNBOUNDED } from '../shared/tools/hosted-tools.ts';

/** Whether the upstream runs a tool by itself. */
export function isOwnTool(tool: Tool): tool is HostedTool {
  return tool.type === 'hosted' && tool.dialect === 'gemini';
}

const SEARCHES: readonly AskedTool[] = [{ kind: 'googleSearch', units: { web_search: 1 }, ...UNBOUNDED }];

/** The upstream searches by a tool that it runs itself. It takes no limit. */
export const hosted: HostedTools = {
  native: {
    takes: new Set(),
    hasToolsBeside: false,
    tool: () => ({ type: 'hosted', dialect: 'gemini', kind: 'googleSearch', value: { googleSearch: {} } }),
  },
  prices: ['web_search'],
  asked: ({ tools }) => (tools.some(isOwnTool) ? SEARCHES : NO_TOOLS_ASKED),
};
