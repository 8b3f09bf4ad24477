import type { AppAttribution } from '../../ir/app-attribution.ts';
import type { CacheWish } from '../../ir/cache-wish.ts';
import type { RequestFormat } from '../../ir/items.ts';
import type { ExactNumbers } from '../../kit/json/exact-numbers.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Caller } from '../../ports/caller.ts';

/** What the HTTP layer hands to the gateway: one authenticated generation request with a valid body. */
export interface GenerationInput {
  readonly format: RequestFormat;
  readonly caller: Caller;
  /** Parsed, validated against the format's schema. */
  readonly body: JsonObject;
  /** Long numbers of the body, and of the answer; absent = their digits are not kept. */
  readonly exactNumbers?: ExactNumbers;
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
  /** Names in the query that the route does not know: reported, without effect. */
  readonly unknownParameters?: readonly string[] | undefined;
  /** What the caller says of itself; absent = nothing. */
  readonly attribution?: Attribution;
  /** Aborted when the caller goes away or the gateway's deadline passes (reason: a GatewayError). */
  readonly signal: AbortSignal;
  /** Resolves when the reply has left, or the caller has: until then it may need the request. Hardly ever called. */
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
