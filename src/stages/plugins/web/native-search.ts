import type { Endpoint } from '../../../catalog/catalog.ts';
import { DIALECTS } from '../../../dialects/dialects.ts';
import type { NativeSearch, WantedSearch } from '../../../dialects/shared/requests/native-search.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { DomainList } from '../../../web/domains.ts';

/** How the endpoint's upstream searches by itself; undefined if it does not. */
function nativeSearchOf({ provider: { dialect } }: Endpoint): NativeSearch | undefined {
  return dialect === 'simulator' ? undefined : DIALECTS[dialect].upstream.hosted?.native;
}

/** The plugin's search in no dialect's words. */
function wantedSearch(plugin: JsonObject): WantedSearch {
  return {
    allowed: patternsOf(plugin.include_domains),
    allowedHosts: hostsOf(plugin.include_domains),
    blocked: patternsOf(plugin.exclude_domains),
    maxUses: plugin.max_uses ?? undefined,
    userLocation: plugin.user_location ?? undefined,
  };
}

export function hasNativeSearch(endpoint: Endpoint, { tools }: GenerationRequest): boolean {
  const native = nativeSearchOf(endpoint);
  return native !== undefined && (native.hasToolsBeside || tools.length === 0);
}

/** Members that say nothing about the search itself. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['id', 'enabled', 'engine']);

/**
 * The request with the upstream's own search, at the endpoints that have it in the words of the first of them, and the
 * members of the plugin that it does not take.
 */
export function withNativeSearch(
  request: GenerationRequest,
  plugin: JsonObject,
  endpoints: readonly Endpoint[],
): { readonly request: GenerationRequest; readonly ignored: readonly string[] } {
  const first = endpoints.find((endpoint) => hasNativeSearch(endpoint, request));
  const native = first && nativeSearchOf(first);
  if (native === undefined) return { request, ignored: [] };
  const same = endpoints.filter((endpoint) => nativeSearchOf(endpoint) === native);
  const { wishes } = request;
  const { max_uses: uses } = plugin;
  const isBoundByCalls = native.isBoundByToolCalls === true && typeof uses === 'number';
  const searched: GenerationRequest = {
    ...request,
    tools: [...request.tools, native.tool(wantedSearch(plugin))],
    wishes: {
      ...wishes,
      endpoints: [...new Set(same.map(({ tag }) => tag))],
      ...(isBoundByCalls && { maxToolCalls: Math.min(uses, wishes.maxToolCalls ?? uses) }),
    },
  };
  return { request: searched, ignored: untaken(plugin, native) };
}

function untaken(plugin: JsonObject, { takes }: NativeSearch): string[] {
  const hasBoth = isFilled(plugin.include_domains) && isFilled(plugin.exclude_domains);
  return Object.keys(plugin).filter((name) => {
    if (OWN_MEMBERS.has(name) || plugin[name] === null) return false;
    return !takes.has(name) || (name === 'exclude_domains' && hasBoth);
  });
}

function isFilled(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0;
}

function patternsOf(value: unknown): string[] | undefined {
  return isFilled(value) ? value : undefined;
}

/** Plain hosts; undefined if hosts cannot express the patterns. */
function hostsOf(value: unknown): readonly string[] | undefined {
  return isFilled(value) ? new DomainList(value).coveringHosts() : undefined;
}
