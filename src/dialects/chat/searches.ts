import { isJsonObject } from '../../kit/json.ts';
import type { SearchRules } from '../dialect.ts';

/** The upstream searches by an option of the body or a tool that it runs itself. It takes no limit. */
export const searches: SearchRules = {
  asked({ format, body, tools }) {
    const hasTool = tools.some(
      (tool) => tool.type === 'hosted' && tool.dialect === 'chat' && tool.kind.includes('web_search'),
    );
    const isAsked = hasTool || (format === 'chat' && isJsonObject(body.web_search_options));
    return isAsked ? Number.POSITIVE_INFINITY : 0;
  },
};
