import { weightOf } from '../kit/json/stringify-sliced.ts';
import type { Sliced } from '../kit/loop/turns.ts';
import type { FollowedGeneration } from '../ports/following/follower.ts';
import { encodeParts, type OtlpBody, type OtlpFormat } from './otlp/encode.ts';
import type {
  ExportTraceServiceRequest,
  InstrumentationScope,
  KeyValue,
  Resource,
  Span,
} from './otlp/messages.ts';
import { attributes, CONVENTIONS } from './spans/conventions.ts';
import { generationSpans, type SentParts } from './spans/generation-spans.ts';

export const SERVICE_NAME = 'signalbox';

/** The resource of all telemetry of the gateway. `more`: attributes that a receiver asks for; they come first. */
export function gatewayResource(version: string, more: Readonly<Record<string, string>> = {}): Resource {
  const own = attributes({ serviceName: SERVICE_NAME, serviceVersion: version });
  const asked = Object.entries(more).map(([key, stringValue]): KeyValue => ({ key, value: { stringValue } }));
  return { attributes: [...asked, ...own.filter(({ key }) => more[key] === undefined)] };
}

export function gatewayScope(version: string): InstrumentationScope {
  return { name: SERVICE_NAME, version };
}

export interface TracesOptions {
  readonly sent: SentParts;
  /** Version of the gateway. */
  readonly version: string;
  readonly resource?: Readonly<Record<string, string>>;
}

/** Generations whose spans stand together, and characters of their contents: about a millisecond of work. */
const MAX_TOGETHER = 16;
const MAX_CHARACTERS_TOGETHER = 128 * 1024;

export function encodeTraces(
  generations: readonly FollowedGeneration[],
  options: TracesOptions,
  format: OtlpFormat,
): Sliced<OtlpBody> {
  return encodeParts('ExportTraceServiceRequest', requestsOf(generations, options), format);
}

function* requestsOf(
  generations: readonly FollowedGeneration[],
  options: TracesOptions,
): Generator<ExportTraceServiceRequest> {
  for (const some of together(generations)) yield traceRequest(some, options);
}

/** The spans of some generations as one message: what is encoded in a slice. */
export function traceRequest(
  generations: readonly FollowedGeneration[],
  { sent, version, resource }: TracesOptions,
): ExportTraceServiceRequest {
  const { schemaUrl } = CONVENTIONS;
  const spans = generations.flatMap((generation): Span[] => generationSpans(generation, sent));
  const scopeSpans = [{ scope: gatewayScope(version), spans, schemaUrl }];
  return { resourceSpans: [{ resource: gatewayResource(version, resource), scopeSpans, schemaUrl }] };
}

/** Generations in groups that are encoded at once. */
export function* together(generations: readonly FollowedGeneration[]): Generator<FollowedGeneration[]> {
  let some: FollowedGeneration[] = [];
  let characters = 0;
  for (const each of generations) {
    if (some.length === MAX_TOGETHER || characters > MAX_CHARACTERS_TOGETHER) {
      yield some;
      some = [];
      characters = 0;
    }
    some.push(each);
    if (each.content !== undefined) characters += weightOf(each.content, MAX_CHARACTERS_TOGETHER);
  }
  if (some.length > 0) yield some;
}
