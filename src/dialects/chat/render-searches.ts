import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import type { SearchRules } from '../dialect.ts';

/** Names of tools by which upstreams search. */
const SEARCH_TOOL = /search/;

/** The upstream searches by an option of the body or a tool that it runs itself. It takes no limit. */
export const searches: SearchRules = {
  asked({ format, body, tools }, supported) {
    const hasTool = tools.some(
      (tool) => tool.type === 'hosted' && tool.dialect === 'chat' && SEARCH_TOOL.test(tool.kind),
    );
    const isAsked = hasTool || (format === 'chat' && hasOption(body, supported));
    return isAsked ? Number.POSITIVE_INFINITY : 0;
  },
};

/** The option of the format, where the endpoint takes it, and those that some providers have beside it. */
function hasOption(body: JsonObject, supported: ReadonlySet<string> | undefined): boolean {
  const isTaken = supported === undefined || supported.has('web_search_options');
  return (
    (isTaken && isJsonObject(body.web_search_options)) ||
    isJsonObject(body.search_parameters) ||
    body.enable_search === true
  );
}
