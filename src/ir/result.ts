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
  /** Text that was left out of the items, because whoever folded them wanted no more of it. */
  readonly omitted?: OmittedText;
  /** Relay lane, non-streaming: the upstream's body as it came. */
  readonly relayed?: JsonObject;
}

/** How much text was left out. */
export interface OmittedText {
  readonly characters: number;
  /** Of which so many are reasoning. */
  readonly reasoningCharacters: number;
}
