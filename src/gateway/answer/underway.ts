import { tierOf } from '../../catalog/service-tier.ts';
import { GatewayError, toGatewayError } from '../../ir/errors.ts';
import type { RoutingMetadata } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { ActiveStages } from '../../stages/stage.ts';
import type { Prompt } from '../../tokens/prompt.ts';
import type { GenerationReservation } from '../admission/reservation.ts';
import type { Plan } from '../plan/plan.ts';
import { type AttemptLog, routingMetadata } from '../record/attempt-log.ts';
import type { PlannedGeneration } from '../record/generation-row.ts';
import type { ContentShare } from '../request/content-room.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import type { GatewaySettings } from '../request/settings.ts';

/** One request from planning on, with everything known about it. */
export interface Underway {
  readonly input: GenerationInput;
  readonly settings: GatewaySettings;
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
  readonly attemptLog: AttemptLog;
  readonly stages: ActiveStages;
  readonly reservation: GenerationReservation;
  /** Plans a further leg. Rejects with a GatewayError. */
  readonly planFurther: (request: GenerationRequest, prompt: Prompt) => Promise<Plan>;
  /** Memory of the request's content. */
  readonly content: ContentShare;
}

export function metadataOf(
  { input, attemptLog, settings }: Pick<Underway, 'input' | 'attemptLog' | 'settings'>,
  outcome: 'served' | 'failed',
): RoutingMetadata | undefined {
  return input.wantsMetadata ? routingMetadata(attemptLog, settings.region, outcome) : undefined;
}

export function routedError(error: unknown, underway: Underway): GatewayError {
  const { signal } = underway.input;
  const cause = signal.aborted && signal.reason instanceof GatewayError ? signal.reason : error;
  return underway.stages.explained(toGatewayError(cause)).withRouting(metadataOf(underway, 'failed'));
}

/** The generation in the form that rows are made from. */
export function plannedGeneration({ input, request, attemptLog, settings }: Underway): PlannedGeneration {
  return { input, request, attemptLog, region: settings.region };
}

/** The serving endpoint as replies name it. */
export function servedBy({ model, endpoint }: Candidate) {
  return {
    model: model.id,
    provider: endpoint.provider.name,
    serviceTier: tierOf(endpoint) ?? 'default',
  };
}
