/** Why a fetch gave nothing. `refused`: a rule forbids the address; `unreachable`: the network or the server failed. */
export type EgressReason = 'refused' | 'unreachable' | 'timeout';

/** A failed fetch. Its message never holds an address. */
export class EgressProblem extends Error {
  readonly reason: EgressReason;

  constructor(reason: EgressReason, message: string) {
    super(message);
    this.name = 'EgressProblem';
    this.reason = reason;
  }
}
