import type { Endpoint } from '../../catalog/catalog.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { type WantedTool, wantedTools } from '../../tools/wanted-tools.ts';
import type { Stage, StageContext } from '../stage.ts';
import { withNativeSearches } from './native-searches.ts';
import { withNativeTools } from './native-tools.ts';
import { OfferedTools } from './offered-tools.ts';
import { ToolLoop, type ToolServices } from './tool-loop.ts';

/**
 * Runs the server tools of a request. `before` gives the model a function for each of them; `around` runs the calls
 * and asks the model again, until it answers.
 */
export function toolLoopStage(services: ToolServices): Stage {
  /** Tools of the generations in which the gateway runs some. */
  const offered = new WeakMap<StageContext, OfferedTools>();
  return {
    name: 'tool-loop',
    touches: 'answer',
    relaysUnchanged: true,
    isActive: (request, { settings }) => wantedTools(request, settings).length > 0,
    async before(asked, context) {
      const endpoints = await context.endpointsFor(asked);
      const searching = withNativeSearches(asked, endpoints, context.settings);
      const request = withNativeTools(searching, endpoints, context.settings);
      const wanted = wantedTools(request, context.settings).filter(
        (tool) => !endpoints.some((endpoint) => runsItself(endpoint, tool)),
      );
      if (wanted.length === 0) return request === asked ? undefined : { request };
      const tools = new OfferedTools(request, wanted, endpoints[0]);
      offered.set(context, tools);
      return { request: tools.request };
    },
    isIdle: (context) => !offered.has(context),
    around(request: GenerationRequest, next, context) {
      const tools = offered.get(context);
      return tools === undefined ? next(request) : new ToolLoop(tools, next, context, services).run(request);
    },
  };
}

/** True if the upstream runs a hosted tool of the caller, in whose words it was asked for. */
function runsItself({ provider: { dialect } }: Endpoint, { of, hostedAs }: WantedTool): boolean {
  return hostedAs !== undefined && of.dialect === dialect;
}
