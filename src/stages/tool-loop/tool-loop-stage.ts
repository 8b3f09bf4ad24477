import type { Endpoint } from '../../catalog/catalog.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { hasToolWork, type WantedTool, wantedTools } from '../../tools/wanted-tools.ts';
import type { Stage, StageContext } from '../stage.ts';
import { withNativeSearches } from './native-searches.ts';
import { withNativeTools } from './native-tools.ts';
import { OfferedTools } from './offered-tools.ts';
import { type OpeningCall, openingCall } from './opening-call.ts';
import { ToolLoop, type ToolServices } from './tool-loop.ts';

/**
 * Runs the server tools of a request. `before` gives the model a function for each of them; `around` runs the calls
 * and asks the model again, until it answers.
 */
export function toolLoopStage(services: ToolServices): Stage {
  /** Tools of the generations in which the gateway runs some. */
  const offered = new WeakMap<StageContext, OfferedTools>();
  const openings = new WeakMap<StageContext, OpeningCall>();
  return {
    name: 'tool-loop',
    touches: 'answer',
    relaysUnchanged: true,
    isActive: (request, { settings }) => hasToolWork(request, settings),
    async before(asked, context) {
      const endpoints = await context.endpointsFor(asked);
      const searching = withNativeSearches(asked, endpoints, context.settings);
      const request = withNativeTools(searching, endpoints, context.settings);
      const wanted = wantedTools(request, context.settings).filter(
        (tool) => !endpoints.some((endpoint) => runsItself(endpoint, tool)),
      );
      const opening = openingCall(request, context.generationId, context.settings);
      if (wanted.length === 0 && opening === undefined) return request === asked ? undefined : { request };
      const further = opening === undefined ? [] : [opening.offered];
      const tools = new OfferedTools(request, wanted, endpoints[0], further);
      offered.set(context, tools);
      if (opening !== undefined) openings.set(context, opening);
      return { request: tools.request };
    },
    isIdle: (context) => !offered.has(context),
    around(request: GenerationRequest, next, context) {
      const tools = offered.get(context);
      if (tools === undefined) return next(request);
      return new ToolLoop(tools, next, context, services).run(request, openings.get(context));
    },
  };
}

/** True if the upstream runs a hosted tool of the caller, in whose words it was asked for. */
function runsItself({ provider: { dialect } }: Endpoint, { of, hostedAs }: WantedTool): boolean {
  return hostedAs !== undefined && of.dialect === dialect;
}
