import type { Endpoint } from '../../catalog/catalog.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { showsPauses } from '../../ir/format-facts.ts';
import { pluginIn } from '../../ir/plugins.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { WEB } from '../../ir/web-notes.ts';
import type { GrantedServers } from '../../mcp/granted-servers.ts';
import { hasToolWork, type WantedTool, wantedTools } from '../../tools/wanted-tools.ts';
import type { Stage, StageContext } from '../stage.ts';
import { refuseMisfits } from './ignored-members.ts';
import { mcpPreface } from './mcp/mcp-preface.ts';
import { listedMcpTools } from './mcp/mcp-tools.ts';
import { withNativeSearches } from './native-searches.ts';
import { withNativeTools } from './native-tools.ts';
import { OfferedTools } from './offered-tools.ts';
import { type OpeningCall, openingCall } from './opening-call.ts';
import { withSearchTool } from './search-options.ts';
import { type Preface, ToolLoop, type ToolServices } from './tool-loop.ts';

/** The tools of a generation in which the gateway runs some, and what runs before the first leg. */
interface Offer {
  readonly tools: OfferedTools;
  readonly preface: Preface | undefined;
  readonly opening: OpeningCall | undefined;
}

/**
 * Runs the server tools of a request. `before` gives the model a function for each of them; `around` runs the calls
 * and asks the model again, until it answers. It also continues turns that an upstream has paused, for callers whose
 * format has no word for that.
 */
export function toolLoopStage(services: ToolServices, mcpServers: GrantedServers): Stage {
  const offers = new WeakMap<StageContext, Offer>();
  const continuePauses = (request: GenerationRequest, context: StageContext): void => {
    if (!mayPause(request)) return;
    const tools = new OfferedTools(request, [], undefined, context.settings);
    offers.set(context, { tools, preface: undefined, opening: undefined });
  };
  return {
    name: 'tool-loop',
    touches: 'answer',
    relaysUnchanged: true,
    // The web plugin may have the upstream search, which may pause then.
    isActive: (request, { settings }) =>
      hasToolWork(request, settings) || pluginIn(request, WEB) !== undefined,
    async before(asked, context) {
      if (!hasToolWork(asked, context.settings)) {
        continuePauses(asked, context);
        return undefined;
      }
      const endpoints = await context.endpointsFor(asked);
      const optioned = withSearchTool(asked, endpoints, context.settings);
      const searching = withNativeSearches(optioned, endpoints, context.settings);
      const native = withNativeTools(searching, endpoints, context.settings);
      const wanted = wantedTools(native, context.settings).filter(
        (tool) => endpoints.length === 0 || !endpoints.every((endpoint) => runsItself(endpoint, tool)),
      );
      const left = new Set(wanted.filter((tool) => endpoints.some((endpoint) => runsItself(endpoint, tool))));
      refuseMisfits(
        native,
        wanted.filter((tool) => !left.has(tool)),
      );
      const opening = openingCall(native, context.generationId, context.settings);
      const isWorking = wanted.length > 0 || opening !== undefined;
      const mcp = await listedMcpTools(native, context, mcpServers, { endpoints, isWorking });
      if (!isWorking && mcp === undefined) {
        continuePauses(native, context);
        return native === asked ? undefined : { request: native };
      }
      const request = mcp?.request ?? native;
      const further = opening === undefined ? [] : [opening.offered];
      const lacking = endpoints.find((endpoint) => wanted.some((tool) => !runsItself(endpoint, tool)));
      const tools = new OfferedTools(
        request,
        [...wanted, ...(mcp?.wanted ?? [])],
        lacking ?? endpoints[0],
        context.settings,
        { further, left, runsItself },
      );
      const preface = mcp && mcpPreface(mcp, mcpServers, context);
      offers.set(context, { tools, preface, opening });
      return tools.request === asked ? undefined : { request: tools.request };
    },
    isIdle: (context) => !offers.has(context),
    around(request: GenerationRequest, next, context) {
      const offer = offers.get(context);
      if (offer === undefined) return next(request);
      return new ToolLoop(offer.tools, next, context, services).run(request, offer.opening, offer.preface);
    },
  };
}

/**
 * The request as an endpoint gets it: with a function for each tool that the gateway runs, and the upstream's own tools
 * for those that it runs itself; undefined = it has no server tools.
 */
export function withServerTools(
  asked: GenerationRequest,
  endpoint: Endpoint,
  settings: StageContext['settings'],
): GenerationRequest | undefined {
  const optioned = withSearchTool(asked, [endpoint], settings);
  const native = withNativeTools(withNativeSearches(optioned, [endpoint], settings), [endpoint], settings);
  const own = wantedTools(native, settings).filter((tool) => !runsItself(endpoint, tool));
  if (own.length === 0) return native === asked ? undefined : native;
  return new OfferedTools(native, own, endpoint, settings).request;
}

/** True if an upstream may pause a turn in which its own tools run, and the caller's format cannot say so. */
function mayPause({ tools, formatFacts }: GenerationRequest): boolean {
  return (
    !showsPauses(formatFacts) &&
    tools.some((tool) => tool.type === 'hosted' && DIALECTS[tool.dialect].facts.pausesTurns === true)
  );
}

/** True if the upstream runs a hosted tool of the caller, in whose words it was asked for. */
function runsItself({ provider, upstreamModel }: Endpoint, { of, hostedAs }: WantedTool): boolean {
  const { dialect, quirks } = provider;
  if (hostedAs === undefined || of.dialect !== dialect) return false;
  const { hasNoHostedTools } = DIALECTS[of.dialect].facts;
  if (hasNoHostedTools !== true) return true;
  const { hostedTools } = quirks;
  return hostedTools?.types.includes(of.kind) === true && hostedTools.models.test(upstreamModel);
}
