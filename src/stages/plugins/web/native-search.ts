import type { Endpoint } from '../../../catalog/catalog.ts';
import type { GenerationRequest, Tool } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { compact } from '../../../kit/json/members.ts';
import { DomainList } from '../domains.ts';

type HostedTool = Extract<Tool, { type: 'hosted' }>;

/** How the upstreams of one dialect search by themselves. */
interface NativeSearch {
  /** Members of the plugin that it takes. */
  readonly takes: ReadonlySet<string>;
  /** Whether it searches beside tools that the caller runs. */
  readonly hasToolsBeside: boolean;
  tool(plugin: JsonObject): HostedTool;
}

const NATIVE_SEARCHES: Readonly<Partial<Record<Endpoint['provider']['dialect'], NativeSearch>>> = {
  responses: {
    takes: new Set(['include_domains', 'max_uses', 'user_location']),
    hasToolsBeside: true,
    tool(plugin) {
      const allowed = hostsOf(plugin.include_domains);
      const value = compact({
        type: 'web_search',
        filters: allowed && { allowed_domains: allowed },
        user_location: plugin.user_location ?? undefined,
      });
      return { type: 'hosted', dialect: 'responses', kind: 'web_search', value: value as JsonObject };
    },
  },
  messages: {
    takes: new Set(['include_domains', 'exclude_domains', 'max_uses', 'user_location']),
    hasToolsBeside: true,
    tool(plugin) {
      const allowed = patternsOf(plugin.include_domains);
      const value = compact({
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: plugin.max_uses ?? undefined,
        allowed_domains: allowed,
        // The upstream takes one of the two lists.
        blocked_domains: allowed === undefined ? patternsOf(plugin.exclude_domains) : undefined,
        user_location: plugin.user_location ?? undefined,
      });
      return { type: 'hosted', dialect: 'messages', kind: 'web_search_20250305', value: value as JsonObject };
    },
  },
  gemini: {
    takes: new Set(),
    hasToolsBeside: false,
    tool: () => ({ type: 'hosted', dialect: 'gemini', kind: 'googleSearch', value: { googleSearch: {} } }),
  },
};

/** Whether an endpoint can search for a request by itself. */
export function hasNativeSearch({ provider }: Endpoint, { tools }: GenerationRequest): boolean {
  const native = NATIVE_SEARCHES[provider.dialect];
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
  const dialect = first?.provider.dialect;
  const native = dialect === undefined ? undefined : NATIVE_SEARCHES[dialect];
  if (native === undefined) return { request, ignored: [] };
  const same = endpoints.filter(({ provider }) => provider.dialect === dialect);
  const { wishes } = request;
  const { max_uses: uses } = plugin;
  const isBoundByCalls = dialect === 'responses' && typeof uses === 'number';
  const searched: GenerationRequest = {
    ...request,
    tools: [...request.tools, native.tool(plugin)],
    wishes: {
      ...wishes,
      provider: { ...wishes.provider, only: [...new Set(same.map(({ tag }) => tag))] },
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

/** Plain hosts; undefined if the patterns cannot be said with them. */
function hostsOf(value: unknown): string[] | undefined {
  const hosts = isFilled(value) ? new DomainList(value).coveringHosts() : undefined;
  return hosts && [...hosts];
}
