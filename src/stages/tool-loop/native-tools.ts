import type { Endpoint } from '../../catalog/catalog.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { ServerTool, ToolSettings } from '../../tools/server-tool.ts';
import { wantedTools } from '../../tools/wanted-tools.ts';

/** The request with upstreams' own tools in the place of server tools that all of the endpoints have themselves. */
export function withNativeTools(
  request: GenerationRequest,
  endpoints: readonly Endpoint[],
  settings: ToolSettings,
): GenerationRequest {
  const { places } = request;
  const replaced = new Map<Tool, Tool>();
  for (const { of, tool, parameters, hostedAs } of wantedTools(request, settings)) {
    const { native } = tool;
    if (native === undefined || parameters.engine === settings.vendor || endpoints.length === 0) continue;
    if (endpoints.every((endpoint) => hasNative(endpoint, native))) {
      const { dialect, value } = native;
      const asked = hostedAs === undefined ? value : { ...of.value, ...value };
      const own: Tool = { type: 'hosted', dialect, kind: value.type, value: asked };
      replaced.set(of, places.put(own, places.of(of) ?? 'tools'));
    } else if (parameters.engine === 'native') {
      const path = `${places.of(of) ?? 'tools'}.parameters.engine`;
      throw invalidRequest([{ path, message: 'the endpoints of the model have no such tool of their own' }]);
    }
  }
  if (replaced.size === 0) return request;
  return { ...request, tools: request.tools.map((tool) => replaced.get(tool) ?? tool) };
}

function hasNative({ provider }: Endpoint, { dialect }: NonNullable<ServerTool['native']>): boolean {
  return provider.dialect === dialect;
}
