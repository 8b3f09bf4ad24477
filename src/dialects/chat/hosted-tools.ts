import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import {
  type AskedTool,
  askedAmong,
  type HostedTools,
  ONLY_TOKENS,
  type ToolRow,
  UNBOUNDED,
} from '../shared/tools/hosted-tools.ts';
import { searchBy, searchBySwitch } from '../shared/tools/search-switches.ts';

/** Tools of upstreams by their type. Names differ between providers. */
const ROWS: readonly ToolRow[] = [
  { type: /^x_search/, units: () => ({ x_search: 1 }) },
  { type: /^(?:file|collections|document|attachment)_search/, units: () => ({ file_search: 1 }) },
  { type: /search|^builtin_function$/, units: () => ({ web_search: 1 }) },
  { type: /^code_(?:interpreter|execution)/, units: () => ({ code_execution: 1 }) },
  { type: /^mcp/, units: ONLY_TOKENS },
];

/** The upstream searches by an option of the body or by a tool that it runs. It accepts no limit. */
export const hosted: HostedTools = {
  asked({ format, body, tools }, supported) {
    const asked = askedAmong(tools, 'chat', ROWS, () => UNBOUNDED);
    const search = format === 'chat' ? searchAsked(body, supported) : undefined;
    return search === undefined ? asked : [...asked, search];
  },
};

/** The search that the format's option asks for, if the endpoint takes it, or a member of a provider. */
function searchAsked(
  body: GenerationRequest['body'],
  supported: ReadonlySet<string> | undefined,
): AskedTool | undefined {
  const isTaken = supported === undefined || supported.has('web_search_options');
  return isTaken && isJsonObject(body.web_search_options)
    ? searchBy('web_search_options')
    : searchBySwitch(body);
}
