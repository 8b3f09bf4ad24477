/** Why a fetch gave nothing. `refused`: a rule forbids the address; `unreachable`: the network or the server failed. */
export type EgressReason = 'refused' | 'unreachable' | 'timeout';

/** A failed fetch. Its message never holds an address. */
export class EgressProblem extends Error {
  readonly reason: EgressReason;
  /** True if the server never got the request. */
  readonly isUnsent: boolean;

  constructor(reason: EgressReason, message: string, isUnsent = reason === 'refused') {
    super(message);
    this.name = 'EgressProblem';
    this.reason = reason;
    this.isUnsent = isUnsent;
  }
}

/** Statuses by which a server, or a proxy before it, says that the work took too long: it may have been done. */
const LATE_STATUSES: ReadonlySet<number> = new Set([408, 504, 524]);

/** True if a server may have done what it was asked for, and bills it. `outcome`: its status, or why there is none. */
export function mayBeBilled(outcome: EgressProblem | number): boolean {
  if (typeof outcome !== 'number') return !outcome.isUnsent;
  return outcome < 300 || LATE_STATUSES.has(outcome);
}
