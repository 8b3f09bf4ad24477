import type { Endpoint } from '../../catalog/catalog.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { ToolSettings } from '../../tools/server-tool.ts';
import { type WantedTool, wantedTools } from '../../tools/wanted-tools.ts';
import { engineOf, webSearch } from '../../tools/web-search.ts';
import { chooseEngine } from '../../web/choose-engine.ts';
import { hasNativeSearch, withNativeSearch } from '../plugins/web/native-search.ts';
import { withReported } from './ignored-members.ts';

/**
 * The request with the upstream's own search in the place of searches for which it is chosen: by the request, by the
 * configuration, or because there is no engine. Throws if none of the endpoints searches.
 */
export function withNativeSearches(
  request: GenerationRequest,
  endpoints: readonly Endpoint[],
  settings: ToolSettings,
): GenerationRequest {
  let changed = request;
  for (const wanted of wantedTools(request, settings)) {
    if (wanted.tool !== webSearch || wanted.hostedAs !== undefined || endpoints.length === 0) continue;
    const rest = { ...changed, tools: changed.tools.filter((tool) => tool !== wanted.of) };
    const hasNative = endpoints.some((endpoint) => hasNativeSearch(endpoint, rest));
    const choice = chooseEngine(engineOf(wanted.parameters), settings.web, hasNative);
    if ('problem' in choice) throw unsearchable(request, wanted, choice.problem);
    if (choice.engine === 'native') changed = withUpstreamSearch(rest, wanted, endpoints);
  }
  return changed;
}

/** Names of parameters by those of the plugin. */
const PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['include_domains', 'allowed_domains'],
  ['exclude_domains', 'excluded_domains'],
]);

/** The request with the upstream's own search, and a report on parameters that it does not take. */
function withUpstreamSearch(
  request: GenerationRequest,
  { of, parameters }: WantedTool,
  endpoints: readonly Endpoint[],
): GenerationRequest {
  const searched = withNativeSearch(request, asPlugin(parameters), endpoints);
  return withReported(searched.request, (report) => {
    for (const name of searched.ignored) {
      const member = `parameters.${PARAMETERS.get(name) ?? name}`;
      report.ignored(report.place(of, 'tools', member), 'the search of the upstream has no such setting');
    }
  });
}

function asPlugin(parameters: JsonObject): JsonObject {
  const {
    allowed_domains: include_domains = null,
    excluded_domains: exclude_domains = null,
    ...rest
  } = parameters;
  return { ...rest, include_domains, exclude_domains };
}

function unsearchable({ places }: GenerationRequest, { of, parameters }: WantedTool, message: string) {
  const member = parameters.engine === undefined ? 'type' : 'parameters.engine';
  return invalidRequest([{ path: `${places.of(of) ?? 'tools'}.${member}`, message }]);
}
