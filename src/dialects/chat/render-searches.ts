import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import type { SearchRules } from '../dialect.ts';

/** Matches names of tools with which upstreams search. */
const SEARCH_TOOL = /search/;

/** The upstream searches by an option of the body or by a tool that it runs. It accepts no limit. */
export const searches: SearchRules = {
  asked({ format, body, tools }, supported) {
    const hasTool = tools.some(
      (tool) => tool.type === 'hosted' && tool.dialect === 'chat' && SEARCH_TOOL.test(tool.kind),
    );
    const isAsked = hasTool || (format === 'chat' && hasOption(body, supported));
    return isAsked ? Number.POSITIVE_INFINITY : 0;
  },
};

/** True if the body has the format's option, and the endpoint takes it, or the option of a provider. */
function hasOption(body: JsonObject, supported: ReadonlySet<string> | undefined): boolean {
  const isTaken = supported === undefined || supported.has('web_search_options');
  return (
    (isTaken && isJsonObject(body.web_search_options)) ||
    isJsonObject(body.search_parameters) ||
    body.enable_search === true
  );
}
