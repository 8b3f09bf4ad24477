import { retryAfterOf } from '../../kit/net/retry-after.ts';
import type { Egress, EgressReply, EgressRequest } from '../../net/egress/egress.ts';
import { EgressProblem } from '../../net/egress/egress-problem.ts';
import { type FollowerFault, FollowerRefuses, FollowerWaits } from '../../ports/following/follower.ts';

/** Sends a request of a destination, and resolves when it was taken. Rejects as writers do. */
export type Send = (
  url: string,
  request: Required<Pick<EgressRequest, 'method' | 'headers' | 'body'>>,
  signal: AbortSignal,
) => Promise<EgressReply>;

/** A destination that hangs is given up after that, milliseconds. */
const TOTAL_MS = 30_000;

/** What it answers is a few bytes. */
const LIMITS = { maxBytes: 64 * 1024, maxRedirects: 0 };

/** Statuses by which a destination says that a request is not valid or too large: the same one never will be. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

/** Statuses by which a proxy says that the destination took too long. */
const LATE: ReadonlySet<number> = new Set([408, 504, 524]);

/** What statuses mean that an operator can do something about. */
const MEANINGS: Readonly<Record<number, string>> = {
  401: 'it does not accept the credentials',
  403: 'it does not accept the credentials',
  404: 'there is nothing at its address',
  405: 'its address takes no such requests',
  415: 'its address does not take this encoding',
  429: 'it gets more than it takes',
};

/** The way to a destination. `mayBePrivate`: the operator's own file names its address. */
export function sendOver(egress: Egress, mayBePrivate: boolean, now: () => number, totalMs = TOTAL_MS): Send {
  const limits = { ...LIMITS, totalMs };
  return async (url, request, signal) => {
    // The status says what became of the request: it is not sent again because of what follows.
    const whole = { ...request, limits, takesBrokenBodies: true, signal };
    const reply = await (mayBePrivate ? egress.call(url, whole) : egress.fetch(url, whole)).catch(
      (problem) => {
        if (!(problem instanceof EgressProblem)) throw problem;
        throw new FollowerWaits(problem.message, {
          fault: problem.reason === 'timeout' ? 'late' : undefined,
        });
      },
    );
    const { status, headers } = reply;
    if (status >= 200 && status < 300) return reply;
    const message = problemOf(status);
    if (REFUSED.has(status)) throw new FollowerRefuses(message);
    const seconds = retryAfterOf(headers, now());
    const retryAfterMs = seconds === undefined ? undefined : seconds * 1_000;
    throw new FollowerWaits(message, {
      retryAfterMs,
      fault: retryAfterMs === undefined ? faultOf(status) : undefined,
    });
  };
}

/** Status 503 says that the server serves no request now, so that the batch is not why it failed. */
function faultOf(status: number): FollowerFault | undefined {
  if (LATE.has(status)) return 'late';
  return status >= 500 && status !== 503 ? 'failed' : undefined;
}

function problemOf(status: number): string {
  if (status >= 300 && status < 400) {
    return `it answers with status ${status}; redirects are not followed: set the address that it leads to`;
  }
  const meaning = MEANINGS[status];
  return `it answers with status ${status}${meaning === undefined ? '' : `: ${meaning}`}`;
}
