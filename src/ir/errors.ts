import type { JsonObject } from '../kit/json/json.ts';
import type { Issue } from '../kit/json/validate.ts';
import type { RoutingMetadata } from './metadata.ts';
import type { Overflow } from './overflow.ts';

/** The stable vocabulary of error types that callers see. */
export type ErrorType =
  | 'context_length_exceeded'
  | 'authentication'
  | 'permission_denied'
  | 'payment_required'
  | 'rate_limit_exceeded'
  | 'provider_overloaded'
  | 'provider_unavailable'
  | 'invalid_request'
  | 'not_found'
  | 'payload_too_large'
  | 'unprocessable'
  | 'content_policy_violation'
  | 'server'
  | 'timeout';

/** Status and code of each kind of error on the wire. */
export interface ErrorRow {
  readonly status: number;
  readonly errorType: ErrorType;
  /** `error.code` inside a failed response of the responses format. */
  readonly responsesCode: string;
  /** `error.type` of the messages format. */
  readonly messagesType: string;
}

/** Every error the gateway can answer with. */
export const ERROR_TABLE = {
  'invalid-request': row(400, 'invalid_request', 'invalid_prompt', 'invalid_request_error'),
  'context-length': row(400, 'context_length_exceeded', 'context_length_exceeded', 'invalid_request_error'),
  'content-policy': row(
    400,
    'content_policy_violation',
    'image_content_policy_violation',
    'invalid_request_error',
  ),
  authentication: row(401, 'authentication', 'server_error', 'authentication_error'),
  payment: row(402, 'payment_required', 'server_error', 'billing_error'),
  permission: row(403, 'permission_denied', 'server_error', 'permission_error'),
  'not-found': row(404, 'not_found', 'server_error', 'not_found_error'),
  'method-not-allowed': row(405, 'invalid_request', 'server_error', 'invalid_request_error'),
  deadline: row(408, 'timeout', 'server_error', 'timeout_error'),
  conflict: row(409, 'invalid_request', 'server_error', 'invalid_request_error'),
  gone: row(410, 'not_found', 'server_error', 'not_found_error'),
  'payload-too-large': row(413, 'payload_too_large', 'server_error', 'invalid_request_error'),
  'unsupported-media': row(415, 'invalid_request', 'server_error', 'invalid_request_error'),
  unprocessable: row(422, 'unprocessable', 'server_error', 'invalid_request_error'),
  'rate-limited': row(429, 'rate_limit_exceeded', 'rate_limit_exceeded', 'rate_limit_error'),
  'headers-too-large': row(431, 'invalid_request', 'server_error', 'invalid_request_error'),
  server: row(500, 'server', 'server_error', 'api_error'),
  'upstream-unavailable': row(502, 'provider_unavailable', 'server_error', 'api_error'),
  overloaded: row(503, 'provider_overloaded', 'server_error', 'overloaded_error'),
  'upstream-timeout': row(524, 'timeout', 'server_error', 'timeout_error'),
  'upstream-overloaded': row(529, 'provider_overloaded', 'server_error', 'overloaded_error'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorKind = keyof typeof ERROR_TABLE;

export interface ErrorDetails {
  readonly metadata?: JsonObject | undefined;
  /** Further members of `error` itself. */
  readonly details?: JsonObject | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** Only with the kind `context-length`. */
  readonly overflow?: Overflow | undefined;
  /** Response headers beyond the usual ones (`Allow`, rate-limit headers). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Routing context; never on errors from before routing, never on a 500. */
  readonly routing?: RoutingMetadata | undefined;
  readonly cause?: unknown;
}

/** The one error class. Its message is for the caller: it never holds a secret, an address or a stack. */
export class GatewayError extends Error {
  readonly kind: ErrorKind;
  readonly metadata: JsonObject | undefined;
  readonly details: JsonObject | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly overflow: Overflow | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly routing: RoutingMetadata | undefined;

  constructor(kind: ErrorKind, message: string, more: ErrorDetails = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'GatewayError';
    this.kind = kind;
    this.metadata = more.metadata;
    this.details = more.details;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.overflow = more.overflow;
    this.headers = more.headers ?? {};
    this.routing = more.routing;
  }

  get row(): ErrorRow {
    return ERROR_TABLE[this.kind];
  }

  get status(): number {
    return this.row.status;
  }

  withRouting(routing: RoutingMetadata | undefined): GatewayError {
    return routing === undefined || this.kind === 'server' ? this : this.#with({ routing });
  }

  withMetadata(metadata: JsonObject): GatewayError {
    return this.kind === 'server' ? this : this.#with({ metadata: { ...this.metadata, ...metadata } });
  }

  #with(changed: Pick<ErrorDetails, 'routing' | 'metadata'>): GatewayError {
    const { metadata, details, retryAfterSeconds, overflow, headers, cause, routing } = this;
    const kept = { metadata, details, retryAfterSeconds, overflow, headers, cause, routing };
    return new GatewayError(this.kind, this.message, { ...kept, ...changed });
  }
}

/** A request that failed validation: the first issue is the message, all are in the metadata. */
export function invalidRequest(issues: readonly Issue[], kind: ErrorKind = 'invalid-request'): GatewayError {
  const first = issues[0] ?? { path: '', message: 'Invalid request parameters' };
  const message = first.path === '' ? first.message : `${first.path}: ${first.message}`;
  return new GatewayError(kind, message, {
    metadata: { issues: issues.map(({ path, message }) => ({ path, message })) },
  });
}

/** Any thrown thing as an error for the caller; what we did not foresee becomes a masked 500. */
export function toGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError
    ? thrown
    : new GatewayError('server', 'Internal Server Error', { cause: thrown });
}

function row(status: number, errorType: ErrorType, responsesCode: string, messagesType: string): ErrorRow {
  return { status, errorType, responsesCode, messagesType };
}
