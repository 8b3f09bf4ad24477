import type { FollowedGeneration } from '../ports/following/follower.ts';
import { encodeOtlp, type OtlpBody, type OtlpFormat } from './otlp/encode.ts';
import type { ExportTraceServiceRequest, InstrumentationScope, Resource } from './otlp/messages.ts';
import { attributes, CONVENTIONS } from './spans/conventions.ts';
import { generationSpans, type SentParts } from './spans/generation-spans.ts';

/** The name of the gateway in telemetry. */
export const SERVICE_NAME = 'signalbox';

/** The resource of all telemetry of the gateway. */
export function gatewayResource(version: string): Resource {
  return { attributes: attributes({ serviceName: SERVICE_NAME, serviceVersion: version }) };
}

export function gatewayScope(version: string): InstrumentationScope {
  return { name: SERVICE_NAME, version };
}

/**
 * The body of a request with the spans of generations. Without generations it is the body of a test: a valid request
 * with nothing in it. `version`: of the gateway.
 */
export function encodeTraces(
  generations: readonly FollowedGeneration[],
  sent: SentParts,
  format: OtlpFormat,
  version: string,
): OtlpBody {
  return encodeOtlp('ExportTraceServiceRequest', traceRequest(generations, sent, version), format);
}

/** The same as an object: what destinations without OTLP are sent. */
export function traceRequest(
  generations: readonly FollowedGeneration[],
  sent: SentParts,
  version: string,
): ExportTraceServiceRequest {
  if (generations.length === 0) return { resourceSpans: [] };
  const { schemaUrl } = CONVENTIONS;
  const spans = generations.flatMap((generation) => generationSpans(generation, sent));
  const scopeSpans = [{ scope: gatewayScope(version), spans, schemaUrl }];
  return { resourceSpans: [{ resource: gatewayResource(version), scopeSpans, schemaUrl }] };
}
