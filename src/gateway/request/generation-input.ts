import type { AppAttribution } from '../../ir/apps/app-attribution.ts';
import type { CacheWish } from '../../ir/cache-wish.ts';
import type { RequestFormat } from '../../ir/items.ts';
import type { ExactNumbers } from '../../kit/json/exact-numbers.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';

/** One authenticated generation request with a valid body, as the HTTP layer passes it to the gateway. */
export interface GenerationInput {
  readonly format: RequestFormat;
  readonly caller: Caller;
  /** Parsed, validated against the format's schema. */
  readonly body: JsonObject;
  /** Long numbers of the body and of the answer; absent = their digits are not kept. */
  readonly exactNumbers?: ExactNumbers;
  /** `gen-...` */
  readonly generationId: string;
  readonly acceptedAtMs: number;
  /** True if a header asks for routing metadata. */
  readonly wantsMetadata: boolean;
  /** `x-session-id`, if the body names no session. */
  readonly sessionId?: string | undefined;
  /** The caller's wish for the response cache; absent = none. */
  readonly cache?: CacheWish | undefined;
  /** Adds a header to the reply before it begins. `name`: without the operator's prefix. */
  readonly header: (name: string, value: string) => void;
  /** `anthropic-beta` or `x-anthropic-beta`. */
  readonly betas?: string | undefined;
  /** `anthropic-version`. */
  readonly apiVersion?: string | undefined;
  /** True if the request is part of the fusion of another gateway; absent = it is not. */
  readonly isInsideFusion?: boolean;
  /** Unknown query parameters: reported, without effect. */
  readonly unknownParameters?: readonly string[] | undefined;
  /** Attribution headers of the caller; absent = none. */
  readonly attribution?: Attribution;
  /** Aborted when the caller leaves or the gateway's deadline passes (reason: a GatewayError). */
  readonly signal: AbortSignal;
  /**
   * Resolves when the reply has been sent, or the caller has left: until then it may need the request. Hardly ever
   * called.
   */
  readonly replied: () => Promise<void>;
  /** Collects the duration of each phase, for `Server-Timing`. */
  readonly timing: Timing;
}

/** Headers with which the caller describes itself: printable, bounded, and not to be trusted. */
export interface Attribution extends AppAttribution {
  readonly userAgent?: string;
  readonly requestId?: string;
  /** W3C trace context; absent if it is not valid. */
  readonly traceparent?: string;
  /** Absent without a `traceparent`. */
  readonly tracestate?: string;
}

/** Milliseconds spent in the phases of one request. */
export interface Timing {
  mark(phase: 'auth' | 'plan', milliseconds: number): void;
  /** Begins the time spent waiting for the upstream. */
  awaitUpstream(): void;
  /** The upstream has answered: time to its first byte, and the whole waiting time. */
  answered(firstByteMs: number, waitedMs: number): void;
}
