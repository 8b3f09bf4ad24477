import { GatewayError } from '../../ir/errors.ts';
import type { CallerHealth } from '../../routing/health/health.ts';
import { siteOf } from '../../routing/rules/candidate.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import type { Admission } from '../admission/admission.ts';
import type { Leg } from './leg.ts';

/** The last failure decides; a rate limit carries the shortest wait that any attempt named. */
export function lastFailure(failures: readonly UpstreamFailure[]): GatewayError {
  const last = failures.at(-1);
  if (last === undefined) throw new Error('nothing has failed');
  const waits = failures.flatMap(({ retryAfterSeconds }) => retryAfterSeconds ?? []);
  const previous = failures.slice(0, -1).map((failure) => ({
    provider: String(failure.metadata?.provider_name ?? ''),
    code: failure.status,
    status: failure.upstreamStatus,
  }));
  return new UpstreamFailure(last.kind, last.message, last.upstreamStatus, {
    metadata: { ...last.metadata, ...(previous.length > 0 && { previous_errors: previous }) },
    ...(waits.length > 0 && { retryAfterSeconds: Math.min(...waits) }),
    overflow: last.overflow,
    cause: last.cause,
    errno: last.errno,
    plainMessage: last.plainMessage,
  });
}

/**
 * No endpoint was called: those that can be paid for are cooling down or rate limited. `isShort`: others cost too
 * much.
 */
export function noneMayBeCalled(
  { plan }: Leg,
  { health, admission }: { readonly health: CallerHealth; readonly admission: Pick<Admission, 'canPay'> },
  isShort: boolean,
): GatewayError {
  const payable = isShort ? plan.candidates.filter((each) => admission.canPay(each)) : plan.candidates;
  if (payable.length === 0) {
    return new GatewayError(
      'payment',
      `What is left of the limits pays for no endpoint of ${plan.requested}; ask for fewer output tokens or raise the limit`,
    );
  }
  const sites = payable.map(({ endpoint, access }) => siteOf(endpoint, access));
  const retryAfterSeconds = health.retryAfterSeconds(sites);
  const which = isShort
    ? `Every endpoint of ${plan.requested} that what is left of the limits pays for`
    : `Every endpoint of ${plan.requested}`;
  const isRateLimited = sites.every((site) => health.of(site).pausedUntilMs > 0);
  return isRateLimited
    ? new GatewayError(
        'rate-limited',
        `${which} is rate limited by its provider; try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      )
    : new GatewayError(
        'overloaded',
        `${which} is cooling down after failures; try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      );
}
