import type { FlowSource } from '../../kit/frames/flow.ts';
import type { Timeouts } from '../../kit/net/timeouts.ts';
import { TransportProblem } from '../http1/client/transport-problem.ts';

export interface TransportCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, mostly JSON. */
  readonly body: string | Uint8Array;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal;
  /** The address comes from an account, not the operator: it must be public or allowed by the operator. */
  readonly isGuarded?: boolean;
  /** Costs nothing: sent again by the transport itself where it would otherwise reject with a `StaleConnection`. */
  readonly isRepeatable?: boolean;
}

export interface TransportReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, decompressed, under back-pressure; throws TransportProblem. */
  readonly chunks: FlowSource<Uint8Array>;
}

/**
 * The call went over a kept connection that the server had already closed, so it was not processed. Sending it again
 * counts as another upstream call.
 */
export class StaleConnection extends TransportProblem {
  constructor() {
    super('reset', 'connection closed before the answer ended', undefined, 'ECONNRESET');
    this.name = 'StaleConnection';
  }
}

/** Carries one call over the network, or to the simulator. */
export interface Transport {
  open(call: TransportCall): Promise<TransportReply>;
  close(): Promise<void>;
}
