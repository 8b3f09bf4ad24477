import type { JsonObject } from '../kit/json.ts';
import type { GatewayError } from './errors.ts';
import type { Finish, Settled } from './events.ts';
import type { Item } from './items.ts';
import type { Usage } from './usage.ts';

/** A whole answer: what folding all its events gives. */
export interface Result {
  /** Output items in order; message items have role `assistant`. */
  readonly items: readonly Item[];
  /** Absent while the answer is still being written. */
  readonly finish?: Finish;
  /** Present when the answer ended in failure. */
  readonly failure?: GatewayError;
  /** The last usage the upstream reported, if any. */
  readonly usage?: Usage;
  readonly settled?: Settled;
  readonly upstreamId?: string;
  readonly upstreamModel?: string;
  /** Relay lane, non-streaming: the upstream's body as it came. */
  readonly relayed?: JsonObject;
}
