/** How a call of an endpoint ended, as far as it decides whether the endpoint is called again. */
export interface EndedCall {
  /** HTTP status of the upstream; 0 when it never answered. */
  readonly upstreamStatus: number;
  /** The call went over a kept connection that the server had already closed. */
  readonly isStale?: boolean;
  /** The call was authorized by a cached token, which can be fetched again. */
  readonly hasCachedToken?: boolean;
}

const UNAUTHORIZED = 401;

/**
 * Whether the same endpoint may be sent the same request again: only if it has not worked on it. That is certain of a
 * stale connection, and of a cached token that it refuses. Asked by all who call again: `NetworkTransport` for calls
 * that cost nothing, `openCall` with a fresh token inside the same attempt, `CandidateQueue` with another attempt.
 * After any other failure `CandidateQueue` goes on to another candidate.
 */
export function mayCallAgain({ upstreamStatus, isStale, hasCachedToken }: EndedCall): boolean {
  return isStale === true || (hasCachedToken === true && upstreamStatus === UNAUTHORIZED);
}
