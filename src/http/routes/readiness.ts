import type { PartState, ReadinessPart, ReadinessParts } from '../../contract/envelopes/health.ts';
import type { ServerState } from '../route.ts';

export interface ReadinessFacts {
  readonly state: ServerState;
  /** Why the process must be restarted; null = it need not be. */
  readonly restartReason: string | null;
  readonly parts: ReadinessParts;
}

export interface ReadinessReply {
  readonly status: 200 | 503;
  readonly body: {
    readonly status: 'ok' | 'starting' | 'draining' | 'unavailable';
    readonly error?: { readonly code: number; readonly message: string };
    readonly parts: Partial<ReadinessParts>;
  };
}

const UNKNOWN: PartState = { status: 'unknown', reason: 'the gateway is starting' };

const NOT_USED: PartState = { status: 'ok', reason: 'the gateway does not use it' };

/** The parts before they are open. */
export const UNKNOWN_PARTS: ReadinessParts = {
  ledger: UNKNOWN,
  store: UNKNOWN,
  events: UNKNOWN,
  providers: UNKNOWN,
};

/**
 * A gateway is ready if it takes requests and its ledger admits at least some of them. The other parts are reported
 * only: without events generations are served, and providers fail for all gateways at the same time.
 */
export function readinessOf({ state, restartReason, parts }: ReadinessFacts): ReadinessReply {
  if (state !== 'ready') return notReady(state, `The gateway is ${state}`, parts);
  if (restartReason !== null) return notReady('unavailable', `Not ready: ${restartReason}`, parts);
  if (!isUsable(parts.ledger)) return notReady('unavailable', `Not ready: ${reasonOf(parts.ledger)}`, parts);
  return { status: 200, body: { status: 'ok', parts } };
}

/** `readinessOf` for one part alone. */
export function readinessOfPart(name: ReadinessPart, parts: ReadinessParts): ReadinessReply {
  const part = parts[name] ?? NOT_USED;
  const only = { [name]: part };
  if (isUsable(part)) return { status: 200, body: { status: 'ok', parts: only } };
  return notReady(part.status === 'unknown' ? 'starting' : 'unavailable', `${name}: ${reasonOf(part)}`, only);
}

function isUsable({ status }: PartState): boolean {
  return status === 'ok' || status === 'limited';
}

function reasonOf({ status, reason }: PartState): string {
  return reason ?? status;
}

function notReady(
  status: Exclude<ReadinessReply['body']['status'], 'ok'>,
  message: string,
  parts: Partial<ReadinessParts>,
): ReadinessReply {
  return { status: 503, body: { status, error: { code: 503, message }, parts } };
}
