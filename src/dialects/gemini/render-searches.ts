import type { Tool } from '../../ir/request.ts';
import type { SearchRules } from '../dialect.ts';
import type { HostedTool } from '../shared/requests/native-search.ts';

/** Whether the upstream runs a tool by itself. */
export function isOwnTool(tool: Tool): tool is HostedTool {
  return tool.type === 'hosted' && tool.dialect === 'gemini';
}

/** The upstream searches by a tool that it runs itself. It takes no limit. */
export const searches: SearchRules = {
  native: {
    takes: new Set(),
    hasToolsBeside: false,
    tool: () => ({ type: 'hosted', dialect: 'gemini', kind: 'googleSearch', value: { googleSearch: {} } }),
  },
  asked: ({ tools }) => (tools.some(isOwnTool) ? Number.POSITIVE_INFINITY : 0),
};
