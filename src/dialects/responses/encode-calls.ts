import type { ItemHead } from '../../ir/events.ts';
import type { OutputItem, ServerCallItem } from '../../ir/items.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, objectsOf, stringAt, textAt } from '../../kit/json/members.ts';
import { googleSearchBegun, googleSearchEnded } from '../shared/tools/google-searches.ts';
import { RESULT_NOT_KEPT } from '../shared/tools/unknown-result.ts';

/**
 * Searches that upstreams of the messages and Gemini dialects ran, as calls of the server tool, which this format
 * shows. Their blocks stay as they are in the representation: settlement counts them.
 */

type SearchHead = Extract<ItemHead, { type: 'server-call' }>;

interface SearchResult {
  readonly callId: string;
  readonly output: string;
  /** Addresses of the pages that were found. */
  readonly sources: readonly JsonObject[];
  readonly isFailed: boolean;
}

const TOOL = 'web_search';

/** The search that a block asks for; undefined = the block is of another kind. */
export function searchBegun(item: OutputItem): SearchHead | undefined {
  if (item.type !== 'opaque') return undefined;
  const google = item.dialect === 'gemini' ? googleSearchBegun(item.value) : undefined;
  if (google !== undefined) {
    const { callId, queries } = google;
    return headOf(callId, { query: queries.join(', ') }, { queries: [...queries] });
  }
  const { type, id, name, input } = item.value;
  if (item.dialect !== 'messages' || type !== 'server_tool_use') return undefined;
  if (name !== TOOL || typeof id !== 'string') return undefined;
  return headOf(id, isJsonObject(input) ? input : {});
}

/** `further`: members of the action beside the query. */
function headOf(callId: string, asked: JsonObject, further: JsonObject = {}): SearchHead {
  const shown = { action: { type: 'search', query: textAt(asked, 'query') ?? '', ...further } };
  return { type: 'server-call', tool: TOOL, hostedAs: TOOL, callId, input: JSON.stringify(asked), shown };
}

/** The result of a search; undefined = the block is of another kind. The texts of pages are encrypted. */
export function searchResult(item: OutputItem): SearchResult | undefined {
  if (item.type !== 'opaque') return undefined;
  const ended = item.dialect === 'gemini' ? googleSearchEnded(item.value) : undefined;
  if (ended !== undefined) {
    const output = JSON.stringify({ results: [], note: RESULT_NOT_KEPT });
    return { callId: ended, output, sources: [], isFailed: false };
  }
  if (item.dialect !== 'messages') return undefined;
  const { type, tool_use_id: callId, content } = item.value;
  if (type !== 'web_search_tool_result' || typeof callId !== 'string') return undefined;
  if (!Array.isArray(content)) {
    const error = stringAt(objectAt(item.value, 'content'), 'error_code') ?? 'unavailable';
    return { callId, output: JSON.stringify({ status: 'error', error }), sources: [], isFailed: true };
  }
  const pages = objectsOf(content).map((page) =>
    compact({ url: stringAt(page, 'url') ?? '', title: textAt(page, 'title') }),
  );
  const output = JSON.stringify({ results: pages, note: RESULT_NOT_KEPT });
  return { callId, output, sources: pages.map(({ url }) => ({ type: 'url', url })), isFailed: false };
}

/** Members of the item of a search that has ended. */
export function shownWith(shown: JsonObject | undefined, { sources }: SearchResult): JsonObject {
  return { ...shown, action: { ...objectAt(shown, 'action'), sources: [...sources] } };
}

export function withSearchCalls(items: readonly OutputItem[]): readonly OutputItem[] {
  if (!items.some((item) => searchBegun(item) !== undefined)) return items;
  const results = new Map(
    items.flatMap((item) => {
      const result = searchResult(item);
      return result === undefined ? [] : [[result.callId, result] as const];
    }),
  );
  return items.flatMap((item): readonly OutputItem[] => {
    const begun = searchBegun(item);
    if (begun === undefined) return searchResult(item) === undefined ? [item] : [];
    return [callOf(begun, results.get(begun.callId))];
  });
}

function callOf({ shown = {}, ...head }: SearchHead, result: SearchResult | undefined): ServerCallItem {
  if (result === undefined) return { ...head, shown, status: 'in_progress' };
  const status = result.isFailed ? 'failed' : 'completed';
  return { ...head, output: result.output, shown: shownWith(shown, result), status };
}
