import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject, type Json } from '../../kit/json/json.ts';
import {
  type AskedTool,
  askedAmong,
  type HostedTools,
  ONLY_TOKENS,
  type ToolRow,
  UNBOUNDED,
} from '../shared/tools/hosted-tools.ts';

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
    const option = format === 'chat' ? searchOption(body, supported) : undefined;
    return option === undefined ? asked : [...asked, searchesBy(option)];
  },
};

function searchesBy(kind: string): AskedTool {
  return { kind, units: { web_search: 1 }, ...UNBOUNDED };
}

/** The option of the body that asks for searches: the format's, if the endpoint takes it, or one of a provider. */
function searchOption(
  body: GenerationRequest['body'],
  supported: ReadonlySet<string> | undefined,
): string | undefined {
  const isTaken = supported === undefined || supported.has('web_search_options');
  if (isTaken && isJsonObject(body.web_search_options)) return 'web_search_options';
  const { search_parameters: parameters, enable_search: isEnabled } = body;
  if (isOn(parameters) && !(isJsonObject(parameters) && parameters.mode === 'off'))
    return 'search_parameters';
  return isOn(isEnabled) ? 'enable_search' : undefined;
}

/** Upstreams take numbers and words for a switch too. */
function isOn(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== false;
}
