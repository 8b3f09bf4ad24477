import type { JsonObject } from '../kit/json/json.ts';
import type { Vector } from './embedding.ts';
import type { GatewayError } from './errors.ts';
import type { Finish, Settled } from './events.ts';
import type { Item, OutputItem } from './items.ts';
import type { Usage } from './usage.ts';

/** A whole answer: what folding all its events gives. */
export interface Result {
  /** Output items in order; message items have role `assistant`. */
  readonly items: readonly OutputItem[];
  /** Absent while the answer is still being written. */
  readonly finish?: Finish | undefined;
  /** Present when the answer ended in failure. */
  readonly failure?: GatewayError | undefined;
  /** The last usage the upstream reported, if any. */
  readonly usage?: Usage | undefined;
  readonly settled?: Settled | undefined;
  readonly upstreamId?: string | undefined;
  readonly upstreamModel?: string | undefined;
  /** Text that was left out of the items, because the reader of the fold asked for no more of it. */
  readonly omitted?: OmittedText | undefined;
  /** Relay lane, non-streaming: the upstream's body as it came. */
  readonly relayed?: JsonObject | undefined;
  /** Vectors of the first inputs of a request for embeddings; of all inputs once the answer has finished. */
  readonly vectors?: readonly Vector[] | undefined;
}

/**
 * True if an answer has items or vectors. Output is more than content (`isContent`): a refusal is output, and so is an
 * item that has only begun.
 */
export function hasOutput({ items, vectors }: Pick<Result, 'items' | 'vectors'>): boolean {
  return items.length > 0 || vectors !== undefined;
}

/** The items that models wrote: without calls of server tools. */
export function writtenItems(items: readonly OutputItem[]): readonly Item[] {
  return items.some(({ type }) => type === 'server-call')
    ? items.filter(isWritten)
    : (items as readonly Item[]);
}

function isWritten(item: OutputItem): item is Item {
  return item.type !== 'server-call';
}

export interface OmittedText {
  readonly reasoning: Omission;
  readonly other: Omission;
}

/** How much text was left out, and pieces from all over it: what they are like all of it is like. */
export interface Omission {
  readonly characters: number;
  readonly sample: readonly string[];
}
