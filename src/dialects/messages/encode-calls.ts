import type { OpaqueItem, ServerCallItem } from '../../ir/items.ts';
import type { ExactNumbers } from '../../kit/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsAt, stringAt, stringsAt, textAt } from '../../kit/json/members.ts';
import { inputObject } from '../shared/tools/call-input.ts';
import { googleSearchBegun, googleSearchEnded } from '../shared/tools/google-searches.ts';
import { mcpToolUseId, serverToolUseId, upstreamCallId, wrapText } from './ids.ts';

/**
 * Blocks of the server tools that this format knows. Calls of other server tools have none: clients refuse types of
 * blocks that they do not know.
 */

// --- Calls, whole and in pieces -------------------------------------------------------------------------------------

type ServerCall = Pick<ServerCallItem, 'tool' | 'callId' | 'input' | 'hostedAs'> & {
  readonly shown?: JsonObject | undefined;
};

/** Type of the blocks for calls of servers that the body lists in `mcp_servers`. */
const MCP_TOOL_USE = 'mcp_tool_use';

const RESULTS: ReadonlyMap<string, ResultForm> = new Map<string, ResultForm>([
  ['web_search', { type: 'web_search_tool_result', content: searchContent, errorCode: 'unavailable' }],
  ['web_fetch', { type: 'web_fetch_tool_result', content: fetchContent, errorCode: 'url_not_accessible' }],
  [
    'advisor',
    {
      type: 'advisor_tool_result',
      content: ({ advice }) => ({ type: 'advisor_result', text: advice ?? '' }),
      errorCode: 'unavailable',
      isOfHosted: true,
    },
  ],
]);

interface ResultForm {
  readonly type: string;
  readonly content: (output: JsonObject) => Json;
  readonly errorCode: string;
  /** The format has blocks only for its own tool, not for the operator's. */
  readonly isOfHosted?: boolean;
}

function resultForm({
  tool,
  hostedAs,
}: {
  readonly tool: string;
  readonly hostedAs: string | undefined;
}): ResultForm | undefined {
  const form = RESULTS.get(tool);
  return form?.isOfHosted === true && hostedAs === undefined ? undefined : form;
}

export function serverCallBlocks(item: ServerCallItem, numbers: ExactNumbers | undefined): JsonObject[] {
  return [
    ...serverUseBlocks(item, numbers),
    ...(item.output === undefined ? [] : serverResultBlocks(item, item.output, item.status === 'failed')),
  ];
}

export function serverUseBlocks(
  { tool, callId, input, hostedAs, shown }: ServerCall,
  numbers: ExactNumbers | undefined,
): JsonObject[] {
  if (hostedAs === MCP_TOOL_USE) {
    return [
      {
        type: MCP_TOOL_USE,
        id: mcpToolUseId(callId),
        name: stringAt(shown, 'name') ?? '',
        server_name: stringAt(shown, 'server_label') ?? '',
        input: inputObject(input, numbers) ?? {},
      },
    ];
  }
  if (resultForm({ tool, hostedAs }) === undefined) return [];
  return [
    {
      type: 'server_tool_use',
      id: serverToolUseId(callId),
      name: tool,
      input: inputObject(input, numbers) ?? {},
      caller: { type: 'direct' },
    },
  ];
}

export function serverResultBlocks(
  { tool, callId, hostedAs }: ServerCall,
  output: string,
  isFailed: boolean,
): JsonObject[] {
  if (hostedAs === MCP_TOOL_USE) {
    const content = [{ type: 'text', text: output }];
    return [{ type: 'mcp_tool_result', tool_use_id: mcpToolUseId(callId), is_error: isFailed, content }];
  }
  const result = resultForm({ tool, hostedAs });
  if (result === undefined) return [];
  const given = inputObject(output, undefined) ?? {};
  const content =
    given.status === 'error' || given.status === 'failed'
      ? { type: `${result.type}_error`, error_code: stringAt(given, 'code') ?? result.errorCode }
      : result.content(given);
  return [{ type: result.type, tool_use_id: serverToolUseId(callId), caller: { type: 'direct' }, content }];
}

function searchContent(given: JsonObject): Json {
  return objectsAt(given, 'results').map((page) => ({
    type: 'web_search_result',
    url: stringAt(page, 'url') ?? '',
    title: stringAt(page, 'title') ?? '',
    encrypted_content: wrapText(stringAt(page, 'content') ?? ''),
    page_age: null,
  }));
}

function fetchContent(given: JsonObject): Json {
  const { url, title, content, retrieved_at } = given;
  return {
    type: 'web_fetch_result',
    url: url ?? '',
    retrieved_at: retrieved_at ?? null,
    content: {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: typeof content === 'string' ? content : '' },
      title: title ?? null,
    },
  };
}

// --- Searches of upstreams of another dialect -----------------------------------------------------------------------

/** The blocks of an item that the representation does not model: its own, or those of a search. */
export function opaqueBlocks(item: OpaqueItem, numbers: ExactNumbers | undefined): JsonObject[] {
  if (item.dialect === 'messages') return [item.value];
  if (item.dialect === 'gemini') return googleSearchBlocks(item.value, numbers);
  const search = searchIn(item);
  return search === undefined ? [] : serverCallBlocks(search, numbers);
}

const SEARCH = 'web_search';

/** The block of one half of a search that an upstream of the Gemini dialect ran: of the call, or of its end. */
function googleSearchBlocks(part: JsonObject, numbers: ExactNumbers | undefined): JsonObject[] {
  const call = { tool: SEARCH, hostedAs: SEARCH };
  const begun = googleSearchBegun(part);
  if (begun !== undefined) {
    const input = JSON.stringify({ query: begun.queries.join(', ') });
    return serverUseBlocks({ ...call, callId: upstreamCallId(begun.callId), input }, numbers);
  }
  const ended = googleSearchEnded(part);
  if (ended === undefined) return [];
  return serverResultBlocks({ ...call, callId: upstreamCallId(ended), input: '' }, '{"results":[]}', false);
}

/**
 * A search that an upstream of the responses dialect ran, as a call of the server tool. Undefined = the item is of
 * another kind: this format has no block for a page that the same tool opened.
 */
function searchIn({ dialect, value }: OpaqueItem): ServerCallItem | undefined {
  const action = objectAt(value, 'action') ?? {};
  const kind = stringAt(action, 'type') ?? 'search';
  if (dialect !== 'responses' || value.type !== 'web_search_call' || kind !== 'search') return undefined;
  const query = textAt(action, 'query') ?? (stringsAt(action, 'queries') ?? []).join(', ');
  const call = {
    type: 'server-call',
    tool: SEARCH,
    hostedAs: SEARCH,
    callId: upstreamCallId(textAt(value, 'id') ?? query),
    input: JSON.stringify({ query }),
    shown: {},
  } as const;
  switch (value.status) {
    case 'completed': {
      const results = objectsAt(value, 'results');
      const pages = results.length > 0 ? results : objectsAt(action, 'sources');
      return { ...call, output: JSON.stringify({ results: pages }), status: 'completed' };
    }
    case 'failed':
      return { ...call, output: JSON.stringify({ status: 'failed' }), status: 'failed' };
    default:
      return { ...call, status: 'in_progress' };
  }
}
