import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, objectsOf } from '../../kit/json/members.ts';
import type { RenderedRequest, RenderTarget } from '../dialect.ts';
import { reportPassedOn } from '../shared/report/passed-on-fields.ts';
import type { Report } from '../shared/report/report.ts';
import { loweredTemperature } from '../shared/requests/claude-sampling.ts';
import { relayBody } from '../shared/requests/relay.ts';
import { refuseSilence } from '../shared/requests/semantics.ts';
import { relayMessages } from './relay-content.ts';
import { obstacleOf, rendered, renderMetadata, renderServiceTier } from './render.ts';
import { renderContext } from './render-context.ts';
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
    ...relaySampling(request, target, report),
    ...(request.speed === 'standard' && { speed: undefined }),
  });
  reportPassedOn(request, body, report);
  return rendered(context, body);
}

// --- Conversation ---------------------------------------------------------------------------------------------------

/** The caller's own system prompt as blocks. */
function systemBlocks({ body: { system } }: GenerationRequest): JsonObject[] {
  return typeof system === 'string' && system !== '' ? [{ type: 'text', text: system }] : objectsOf(system);
}

// --- Sampling -------------------------------------------------------------------------------------------------------

/** The caller's own settings without those that the endpoint does not take. */
function relaySampling(request: GenerationRequest, target: RenderTarget, report: Report): JsonObject {
  const { sampling, body } = request;
  const isThinking = THINKING.has(objectAt(body, 'thinking')?.type);
  const changes: JsonObject = {};
  for (const [field, wire] of RELAYED_SETTINGS) {
    const value = sampling[field];
    if (value === undefined) continue;
    const obstacle = obstacleOf(field, value, target, isThinking);
    if (obstacle !== undefined) {
      report.dropped(wire, obstacle);
      changes[wire] = undefined;
    } else if (field === 'temperature') {
      changes[wire] = loweredTemperature(value, report);
    }
  }
  return changes;
}

const RELAYED_SETTINGS = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
] as const;

const THINKING: ReadonlySet<unknown> = new Set(['enabled', 'adaptive']);
