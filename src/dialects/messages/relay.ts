import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsOf } from '../../kit/json/members.ts';
import type { RenderedRequest, RenderTarget } from '../dialect.ts';
import { reportPassedOn } from '../shared/report/passed-on-fields.ts';
import { relayBody } from '../shared/requests/relay.ts';
import { refuseSilence } from '../shared/requests/semantics.ts';
import { relayMessages } from './relay-content.ts';
import { fittedSampling, rendered, renderMetadata, renderServiceTier } from './render.ts';
import { type RenderContext, renderContext } from './render-context.ts';
import { NOT_ON_THIS_ROUTE } from './render-losses.ts';
import { relayReasoning } from './render-reasoning.ts';
import { GATEWAY_FIELDS, type WireMessage } from './wire.ts';

/** The caller's own body with only the necessary changes. */
export function renderRelay(request: GenerationRequest, target: RenderTarget): RenderedRequest {
  const context = renderContext(request, target);
  const { report } = context;
  const given = request.body.messages as unknown as WireMessage[];
  const { system, messages } = relayMessages(given, report, target.quirks?.takesSystemTurns === true);
  refuseSilence(messages, report);
  const { service_tier } = renderServiceTier(request, report);
  // The upstream's own: those for the gateway stay here.
  const fallbacks = request.ext.messages?.fallbacks;
  for (const field of request.unknownFields) {
    if (GATEWAY_FIELDS.has(field)) report.dropped(field, NOT_ON_THIS_ROUTE);
  }
  const body = relayBody(request, GATEWAY_FIELDS, {
    model: target.model,
    messages,
    ...(system.length > 0 && { system: [...systemBlocks(request), ...system] }),
    ...relayReasoning(context, messages),
    metadata: renderMetadata(request, request.body.metadata ?? undefined, target),
    service_tier,
    ...(fallbacks !== undefined && { fallbacks }),
    ...relaySampling(context),
    ...(request.speed === 'standard' && { speed: undefined }),
  });
  reportPassedOn(request, body, report);
  return rendered(context, body);
}

// --- Conversation ---------------------------------------------------------------------------------------------------

function systemBlocks({ body: { system } }: GenerationRequest): JsonObject[] {
  return typeof system === 'string' && system !== '' ? [{ type: 'text', text: system }] : objectsOf(system);
}

// --- Sampling -------------------------------------------------------------------------------------------------------

/** The caller's own settings that must change; undefined for those that the endpoint does not take. */
function relaySampling(context: RenderContext): JsonObject {
  const { body } = context.request;
  const fitted = fittedSampling(context, THINKING.has(objectAt(body, 'thinking')?.type));
  return Object.fromEntries(Object.entries(fitted).filter(([name, value]) => value !== body[name]));
}

const THINKING: ReadonlySet<unknown> = new Set(['enabled', 'adaptive']);
