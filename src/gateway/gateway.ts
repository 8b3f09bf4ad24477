import type { Endpoint, Model } from '../catalog/catalog.ts';
import type { ReplyContext } from '../dialects/dialect.ts';
import type { AppAttribution } from '../ir/app-attribution.ts';
import type { CacheWish } from '../ir/cache-wish.ts';
import type { EventBatch } from '../ir/events.ts';
import type { Format } from '../ir/items.ts';
import type { Result } from '../ir/result.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { Caller } from '../ports/caller.ts';
import type { HealthState } from '../routing/health/endpoint-health.ts';
import type { ServiceStatistics } from '../routing/health/measurements.ts';
import type { Explanation } from './explain.ts';

/** What the HTTP layer hands to the gateway: one authenticated generation request with a valid body. */
export interface GenerationInput {
  readonly format: Format;
  readonly caller: Caller;
  /** Parsed, validated against the format's schema. */
  readonly body: JsonObject;
  /** `gen-...` */
  readonly generationId: string;
  /** Epoch milliseconds. */
  readonly acceptedAtMs: number;
  /** The caller asked for routing metadata by header. */
  readonly wantsMetadata: boolean;
  /** `x-session-id`, where the body names no session. */
  readonly sessionId?: string | undefined;
  /** What the caller asks of the response cache; absent = nothing. */
  readonly cache?: CacheWish | undefined;
  /** Adds a header to the reply, as long as it has not begun. `name`: without the operator's word. */
  readonly header: (name: string, value: string) => void;
  /** `anthropic-beta` or `x-anthropic-beta`. */
  readonly betas?: string | undefined;
  /** Who says to be calling; absent = nobody. */
  readonly attribution?: Attribution;
  /** Aborted when the caller goes away or the gateway's deadline passes (reason: a GatewayError). */
  readonly signal: AbortSignal;
  /** Resolves when the reply has left, or nobody waits for that: until then it may need the request. Hardly ever asked. */
  readonly replied: () => Promise<void>;
  /** Told how long each phase took, for `Server-Timing`. */
  readonly timing: Timing;
}

/** What the caller says of itself in headers: printable, bounded, and not to be trusted. */
export interface Attribution extends AppAttribution {
  readonly userAgent?: string;
  /** The caller's own id for this request. */
  readonly requestId?: string;
}

/** Milliseconds spent in the phases of one request. */
export interface Timing {
  mark(phase: 'auth' | 'plan', milliseconds: number): void;
  /** From now on the upstream is waited for, until it has answered. */
  awaitUpstream(): void;
  /** Of the upstream the first byte took so long, and all that had to be waited for. */
  answered(firstByteMs: number, waitedMs: number): void;
}

/** An answer whose first content has arrived: it will be served by one known endpoint. */
export interface OpenedStream {
  readonly context: ReplyContext;
  /** From the very first event on; ends with exactly one terminal event, which carries `settled`. */
  readonly batches: AsyncIterable<EventBatch>;
}

/** A whole answer. */
export interface FinishedGeneration {
  readonly context: ReplyContext;
  readonly result: Result;
}

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
  /** What would become of a request; nobody is called. */
  explain(input: GenerationInput): Promise<Explanation>;
  /** The models that a caller can reach, with the credentials of its account too; sorted by id. */
  modelsFor(caller: Caller): Promise<readonly Model[]>;
  /** How an endpoint does for everybody. */
  serviceOf(endpoint: Endpoint): EndpointService;
  /** Resolves when the accounts of all answers are closed, those too that nobody waits for any more. */
  settled(): Promise<void>;
  /** A context for a failure that comes before any endpoint answered but after the stream was opened. */
  contextWithoutEndpoint(input: GenerationInput): ReplyContext;
}
