import type { Endpoint, Model } from '../catalog/catalog.ts';
import type { ReplyContext } from '../dialects/dialect.ts';
import type { Caller } from '../ports/caller.ts';
import type { HealthState } from '../routing/health/endpoint-health.ts';
import type { ServiceStatistics } from '../routing/health/measurements.ts';
import type { Explanation } from './explain.ts';
import type { FinishedGeneration, OpenedStream } from './generation/opened-generation.ts';
import type { GenerationInput } from './request/generation-input.ts';

/** What is known of how an endpoint does. */
export interface EndpointService extends ServiceStatistics {
  readonly state: HealthState;
}

/** The spine, as the HTTP layer sees it. Both reject with a GatewayError. */
export interface Gateway {
  /** Streaming: resolves at the first content event or the end, whichever is first. */
  stream(input: GenerationInput): Promise<OpenedStream>;
  /** Non-streaming: resolves with the whole answer. */
  complete(input: GenerationInput): Promise<FinishedGeneration>;
  /** Prompt tokens of a messages request, as the upstream or our tokenizer counts them. */
  countTokens(input: GenerationInput): Promise<number>;
  /** What would become of a request; no upstream is called. */
  explain(input: GenerationInput): Promise<Explanation>;
  /** The models that a caller can reach, with the credentials of its account too; sorted by id. */
  modelsFor(caller: Caller): Promise<readonly Model[]>;
  /** How an endpoint does with the gateway's credential. */
  serviceOf(endpoint: Endpoint): EndpointService;
  /** Resolves when the accounts of all answers are closed, those of callers that have left included. */
  settled(): Promise<void>;
  /** A context for a failure that comes before any endpoint answered but after the stream was opened. */
  contextWithoutEndpoint(input: GenerationInput): ReplyContext;
}
