import type { GenerationRequest } from '../../ir/request.ts';
import { ToldTrace } from '../../ir/trace.ts';
import type { GenerationInput } from './generation-input.ts';
import type { GatewaySettings } from './settings.ts';

/** What upstreams and services are told of the trace of a generation; undefined unless the operator wants it. */
export function toldTraceOf(
  { generationId, attribution }: Pick<GenerationInput, 'generationId' | 'attribution'>,
  { wishes }: Pick<GenerationRequest, 'wishes'>,
  { propagatesTrace }: Pick<GatewaySettings, 'propagatesTrace'>,
): ToldTrace | undefined {
  if (!propagatesTrace) return undefined;
  const { traceparent, tracestate } = attribution ?? {};
  return new ToldTrace(generationId, { trace: wishes.trace ?? null, traceparent, tracestate });
}
