import type { Endpoint } from '../catalog/catalog.ts';
import type { Credential } from '../catalog/providers/credential.ts';
import type { Lane } from '../dialects/lane.ts';
import { type ErrorDetails, type ErrorKind, GatewayError } from '../ir/errors.ts';
import type { EventBatch } from '../ir/events.ts';
import type { TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { TraceHeaders } from '../ir/trace.ts';
import type { FlowSource } from '../kit/frames/flow.ts';
import type { JsonObject } from '../kit/json/json.ts';

/** What the reservation pays for, where the upstream must be given a limit. */
export interface PaidLimits {
  /** Undefined = no limit binds. */
  readonly outputTokens?: number | undefined;
  /** Calls of tools that the upstream runs; undefined = as many as the request allows. */
  readonly toolCalls?: number | undefined;
  /** Types of tools that the upstream must not get: it has no price for them. */
  readonly withoutTools?: ReadonlySet<string> | undefined;
}

export interface UpstreamCall {
  readonly request: GenerationRequest;
  readonly endpoint: Endpoint;
  readonly lane: Lane;
  /** Credential at the provider; undefined for providers that need none. */
  readonly credential: Credential | undefined;
  /** A BYOK credential is used: addresses in it are not trusted like the operator's. */
  readonly isByok?: boolean;
  /** Absent = no limit binds. */
  readonly paid?: PaidLimits;
  /** Betas that the caller asked for, for upstreams of that family. */
  readonly betas?: string | undefined;
  readonly trace?: TraceHeaders;
  readonly hashUser: (id: string) => string;
  /** Account of the caller: large answers of one account leave memory to others. */
  readonly accountId?: string;
  /** Resolves when the reply has left, or the caller has: until then a large answer takes memory. */
  readonly replied?: () => Promise<void>;
  /** Ends the call: the caller went away, or the gateway's own deadline passed. */
  readonly signal: AbortSignal;
  /** Receives the body before it is sent, secrets removed, if the request asks for the debug echo. */
  readonly onRequest?: ((sentBody: JsonObject) => void) | undefined;
}

/** An upstream that has begun to answer (status 2xx). */
export interface UpstreamAnswer {
  readonly status: number;
  readonly report: readonly TranslationEntry[];
  /**
   * The answer; ends with exactly one terminal event, after an abort with a failure that is the signal's reason. Not
   * pulling is back-pressure. Returning from the iteration early closes the connection.
   */
  readonly batches: FlowSource<EventBatch>;
}

/** How an answer was lost that its upstream may have finished. */
export type LostAnswer = 'time-limit' | 'broken-off';

type UpstreamFailureDetails = ErrorDetails &
  Partial<
    Pick<
      UpstreamFailure,
      'isCutByUs' | 'isStale' | 'isConnection' | 'lostBy' | 'errno' | 'plainMessage' | 'providerMessage'
    >
  >;

/** A failed call, with the message that the caller gets if no candidate is left. */
export class UpstreamFailure extends GatewayError {
  /** HTTP status of the upstream; 0 when it never answered. */
  readonly upstreamStatus: number;
  /** The gateway ended the answer at a time limit of its own, although the upstream was still writing. */
  readonly isCutByUs: boolean;
  /** The call went over a kept connection that was closed already: the same endpoint may be called again. */
  readonly isStale: boolean;
  /** No connection was made, so that no request was sent: none can have brought that about. */
  readonly isConnection: boolean;
  /**
   * How we lost an upstream that may go on and bill its whole answer: a time limit passed, ours or one of a server
   * behind the provider, or the answer was lost or unreadable. Undefined = nothing was sent, or the upstream itself
   * said that it failed.
   */
  readonly lostBy: LostAnswer | undefined;
  /** Code of the system or of TLS, for the log; undefined if the connection did not break. */
  readonly errno: string | undefined;
  /**
   * The failure for the log, without the upstream's words, which may quote the request; undefined = as the
   * message.
   */
  readonly plainMessage: string | undefined;
  /**
   * The beginning of what the provider said of a fault of its own, without secrets and addresses; undefined = it said
   * nothing, it refused the request and may quote it, or a guardrail changed its text.
   */
  readonly providerMessage: string | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    upstreamStatus: number,
    {
      isCutByUs = false,
      isStale = false,
      isConnection = false,
      lostBy,
      errno,
      plainMessage,
      providerMessage,
      ...more
    }: UpstreamFailureDetails = {},
  ) {
    super(kind, message, more);
    this.name = 'UpstreamFailure';
    this.upstreamStatus = upstreamStatus;
    this.isCutByUs = isCutByUs;
    this.isStale = isStale;
    this.isConnection = isConnection;
    this.lostBy = lostBy;
    this.errno = errno;
    this.plainMessage = plainMessage;
    this.providerMessage = providerMessage;
  }

  inWords(message: string, metadata: JsonObject | undefined): UpstreamFailure {
    return this.#with({ metadata, providerMessage: undefined }, message);
  }

  /** This failure, of a call that has lost answers as well. */
  withLost(lostBy: LostAnswer): UpstreamFailure {
    return this.#with({ lostBy });
  }

  #with(changed: Partial<UpstreamFailureDetails>, message = this.message): UpstreamFailure {
    const { metadata, details, retryAfterSeconds, overflow, headers, routing } = this;
    const { isCutByUs, isStale, isConnection, lostBy, errno, plainMessage, providerMessage } = this;
    const ofError = { metadata, details, retryAfterSeconds, overflow, headers, routing };
    const kept = { isCutByUs, isStale, isConnection, lostBy, errno, plainMessage, providerMessage };
    return new UpstreamFailure(this.kind, message, this.upstreamStatus, { ...ofError, ...kept, ...changed });
  }
}

/** Calls one endpoint. Rejects with an UpstreamFailure; rejects with the signal's reason when aborted. */
export type CallUpstream = (call: UpstreamCall) => Promise<UpstreamAnswer>;
