import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import { type AskedTool, UNBOUNDED } from './hosted-tools.ts';

/**
 * Members of a body that have upstreams of some provider search. No format documents them, so they go upstream as they
 * came; the one whose value is on is what the search is asked for by.
 */
const SWITCHES = new Map<string, (value: Json | undefined) => boolean>(
  Object.entries({
    // xAI.
    search_parameters: isOn,
    // Alibaba.
    enable_search: isOn,
    // Baidu, and others as a plain switch.
    web_search: isOn,
    enable_web_search: isOn,
    // Tencent.
    enable_enhancement: isOn,
    force_search_enhancement: isOn,
    enable_deep_search: isOn,
    // Cohere.
    connectors: (value) => Array.isArray(value) && value.length > 0,
    // Groq.
    compound_custom: isOn,
    venice_parameters: (value) =>
      isJsonObject(value) &&
      ['enable_web_search', 'enable_x_search', 'enable_web_scraping'].some((name) => isOn(value[name])),
  }),
);

/** Upstreams take numbers and words for a switch too, and objects that say in a member whether they are on. */
function isOn(value: Json | undefined): boolean {
  if (isJsonObject(value)) return value.enable !== false && isOn(value.mode ?? true);
  return value !== undefined && value !== null && value !== false && value !== 'off';
}

/**
 * The search that such a member asks for; it accepts no limit. Some proxies in front of providers (LiteLLM) move the
 * members of `extra_body` into the body.
 */
export function searchBySwitch(body: JsonObject): AskedTool | undefined {
  const extra = body.extra_body;
  return switchIn(body) ?? (isJsonObject(extra) ? switchIn(extra) : undefined);
}

function switchIn(body: JsonObject): AskedTool | undefined {
  // Most bodies have fewer members than there are switches.
  for (const name in body) {
    if (SWITCHES.get(name)?.(body[name])) return searchBy(name);
  }
  return undefined;
}

export function searchBy(field: string): AskedTool {
  return { kind: field, units: { web_search: 1 }, ...UNBOUNDED };
}
