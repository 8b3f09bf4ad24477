import type { ErrorKind, GatewayError } from '../../ir/errors.ts';
import type { TicketFailure } from '../../routing/health/health-ticket.ts';
import type { FailureCause } from '../../routing/health/service-watch.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';

/** Statuses that concern the request: another caller's may succeed. */
const BLAMELESS_STATUSES: ReadonlySet<number> = new Set([400, 404, 405, 409, 413, 415, 422]);

/** Kinds of errors that concern the request, if the response itself carried an error. */
const BLAMELESS_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'invalid-request',
  'context-length',
  'content-policy',
  'permission',
  'not-found',
  'conflict',
  'payload-too-large',
  'unprocessable',
]);

/** How a failed call counts for its endpoint: whether against it, and how long the endpoint asks for a pause. */
export function blameOf(failure: UpstreamFailure): TicketFailure {
  const { kind, upstreamStatus, isConnection, retryAfterSeconds } = failure;
  return {
    counts: !BLAMELESS_STATUSES.has(upstreamStatus) && !BLAMELESS_KINDS.has(kind),
    isConnection,
    isRateLimit: kind === 'rate-limited',
    cause: causeOf(failure),
    ...(retryAfterSeconds !== undefined && { retryAfterMs: retryAfterSeconds * 1000 }),
  };
}

const GATEWAY_LIMITS: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['deadline', 'overloaded']);

/**
 * True if the gateway's own limits of time or memory, or its shutdown, ended an answer: the endpoint did nothing wrong,
 * and no other one would do better.
 */
export function isGatewayLimit(error: GatewayError): boolean {
  return !(error instanceof UpstreamFailure) && GATEWAY_LIMITS.has(error.kind);
}

function causeOf({ kind, upstreamStatus, metadata, errno }: UpstreamFailure): FailureCause {
  const code = metadata?.provider_code;
  return {
    kind,
    status: upstreamStatus === 0 ? null : upstreamStatus,
    code: typeof code === 'string' ? code : null,
    errno: errno ?? null,
  };
}
