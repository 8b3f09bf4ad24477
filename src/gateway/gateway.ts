import type { Endpoint, Model } from '../catalog/catalog.ts';
import type { ReplyContext } from '../dialects/dialect.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import type { HealthState } from '../routing/health/endpoint-health.ts';
import type { ServiceStatistics } from '../routing/health/measurements.ts';
import type { Explanation } from './explain.ts';
import type { FinishedGeneration, OpenedStream } from './generation/opened-generation.ts';
import type { DirectToolCall, DirectToolResult, ShownTool } from './generation/tool-generation.ts';
import type { GenerationInput } from './request/generation-input.ts';

export interface EndpointService extends ServiceStatistics {
  readonly state: HealthState;
}

/** The spine, as the HTTP layer sees it. Both reject with a GatewayError. */
export interface Gateway {
  /** Streaming: resolves at the first content event or the end, whichever is first. */
  stream(input: GenerationInput): Promise<OpenedStream>;
  /** Non-streaming: resolves with the whole answer. */
  complete(input: GenerationInput): Promise<FinishedGeneration>;
  /** Prompt tokens of a request, as an upstream of its format or our tokenizer counts them. */
  countTokens(input: GenerationInput): Promise<number>;
  /** Explains how a request would be routed; calls no upstream. */
  explain(input: GenerationInput): Promise<Explanation>;
  /** Runs a tool that no model has called, with a record of its own. `input`: with the body of `directCallBody`. */
  callTool(input: GenerationInput, call: DirectToolCall): Promise<DirectToolResult>;
  /** Tools for an MCP client, as the guardrails of its key let them pass. Rejects with a GatewayError. */
  passedTools<T extends ShownTool>(input: GenerationInput, tools: readonly T[]): Promise<readonly T[]>;
  /** The models that a caller can reach, also with the BYOK credentials of its account; sorted by id. */
  modelsFor(caller: Caller): Promise<readonly Model[]>;
  serviceOf(endpoint: Endpoint): EndpointService;
  /** Resolves when all answers are settled, those of callers that have left included. */
  settled(): Promise<void>;
  /** A context for a failure after the stream was opened and before any endpoint answered. */
  contextWithoutEndpoint(input: GenerationInput): ReplyContext;
}
