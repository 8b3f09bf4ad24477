import type { Timeouts } from '../../kit/net/timeouts.ts';
import type { UpstreamCall } from '../upstream.ts';

/**
 * Limits of a provider without one for the first byte, by the limits as they are set. One object each,
 * because every call has it.
 */
const PATIENT = new WeakMap<Timeouts, Timeouts>();

/**
 * The time limits of a call. A whole answer has no byte before its end, and a model that thinks may send none before
 * it has thought: their first byte has the time of the whole answer. Otherwise they would be given up, and asked for
 * again, while the upstream works and bills.
 */
export function timeoutsFor({ request, endpoint }: Pick<UpstreamCall, 'request' | 'endpoint'>): Timeouts {
  const { timeouts } = endpoint.provider;
  if (request.embedding !== undefined) return timeouts;
  return request.stream && endpoint.reasoning === undefined ? timeouts : patient(timeouts);
}

function patient(timeouts: Timeouts): Timeouts {
  let found = PATIENT.get(timeouts);
  if (found === undefined) {
    found = { ...timeouts, firstByte: Math.max(timeouts.firstByte, timeouts.total) };
    PATIENT.set(timeouts, found);
  }
  return found;
}
