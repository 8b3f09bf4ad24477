import type { JsonObject } from '../../../kit/json/json.ts';
import { objectAt, stringsAt, textAt } from '../../../kit/json/members.ts';

/**
 * Searches of the web that a Gemini upstream shows in its answer: a call and its response, each a part of its own. The
 * parts stay as they are in the representation, so that they go back with their signatures.
 */

/** Searches of the web, by the upstream's name. */
const WEB_SEARCH = 'GOOGLE_SEARCH_WEB';

export interface GoogleSearch {
  readonly callId: string;
  readonly queries: readonly string[];
}

/** The search that a part asks for; undefined = the part is of another kind. */
export function googleSearchBegun(part: JsonObject): GoogleSearch | undefined {
  const call = objectAt(part, 'toolCall');
  if (call?.toolType !== WEB_SEARCH) return undefined;
  const queries = stringsAt(objectAt(call, 'args'), 'queries') ?? [];
  return { callId: textAt(call, 'id') ?? WEB_SEARCH, queries };
}

/** The call whose response a part is; undefined = the part is of another kind. Its pages are among the citations. */
export function googleSearchEnded(part: JsonObject): string | undefined {
  const response = objectAt(part, 'toolResponse');
  return response?.toolType === WEB_SEARCH ? (textAt(response, 'id') ?? WEB_SEARCH) : undefined;
}
