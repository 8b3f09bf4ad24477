import type { Frame } from '../kit/frames/frames.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { JsonTemplate } from '../kit/json/json-template.ts';
import type { Vector } from './embedding.ts';
import type { GatewayError } from './errors.ts';
import type {
  Annotation,
  DialectName,
  Ext,
  ItemStatus,
  Logprobs,
  OpaqueItem,
  SealGiver,
  Source,
  ToolKind,
} from './items.ts';
import type { RoutingMetadata } from './metadata.ts';
import type { Bill, Usage } from './usage.ts';

/**
 * How a generation ended. `refusal`: the model declined; `content-filter`: a filter cut it; `budget`: a limit or
 * balance does not pay for the next leg.
 */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool-calls'
  | 'content-filter'
  | 'refusal'
  | 'pause'
  | 'compaction'
  | 'budget';

/** Kind and members of an output item, as known when it begins. */
export type ItemHead =
  | { readonly type: 'message'; readonly id?: string; readonly phase?: string; readonly ext?: Ext }
  | { readonly type: 'reasoning'; readonly id?: string; readonly ext?: Ext }
  | {
      readonly type: 'tool-call';
      readonly kind: ToolKind;
      readonly callId: string;
      readonly name: string;
      readonly namespace?: string;
      readonly id?: string;
      readonly ext?: Ext;
    }
  | { readonly type: 'image'; readonly id?: string; readonly ext?: Ext }
  /** A call of a server tool; its members are those of `ServerCallItem`. */
  | {
      readonly type: 'server-call';
      readonly tool: string;
      readonly hostedAs?: string;
      readonly callId: string;
      readonly input: string;
      /** Members that are known before the tool has run. */
      readonly shown?: JsonObject;
      readonly id?: string;
    }
  | { readonly type: 'opaque'; readonly item: OpaqueItem };

/** Kinds of parts of an item: of messages `text` and `refusal`, of reasoning `thought` (raw) and `summary`. */
export type PartKind = 'text' | 'refusal' | 'thought' | 'summary';

/** The seal of a reasoning item or tool call, byte for byte as the upstream wrote it. */
export interface Seal {
  readonly signature?: string;
  readonly encrypted?: string;
  readonly format?: string;
  readonly givenBy?: SealGiver;
}

/**
 * The events of an answer, in order. `item` is the position of the item in the output, counted from 0; `part` the
 * position inside the item, raw thoughts and summaries counted apart. Items do not overlap except tool calls, whose
 * input deltas may interleave. Exactly one terminal event ends the stream: `finish` or `failure`.
 */
export type Event =
  | { readonly type: 'start'; readonly upstreamId?: string; readonly upstreamModel?: string }
  | { readonly type: 'item-start'; readonly item: number; readonly head: ItemHead }
  | {
      readonly type: 'part-start';
      readonly item: number;
      readonly part: number;
      readonly kind: PartKind;
      readonly ext?: Ext;
    }
  | {
      readonly type: 'text-delta';
      readonly item: number;
      readonly part: number;
      readonly kind: PartKind;
      readonly text: string;
      readonly logprobs?: Logprobs | undefined;
    }
  | {
      readonly type: 'annotation';
      readonly item: number;
      readonly part: number;
      readonly annotation: Annotation;
    }
  | { readonly type: 'part-end'; readonly item: number; readonly part: number; readonly kind: PartKind }
  | { readonly type: 'tool-input-delta'; readonly item: number; readonly text: string }
  | { readonly type: 'image-data'; readonly item: number; readonly source: Source }
  /** A piece of the result of a server tool that callers may read while it runs; the result has it all. */
  | { readonly type: 'server-delta'; readonly item: number; readonly text: string }
  /** A step of a server tool that calls models, in the words of its own events (`panel.added`). */
  | {
      readonly type: 'server-step';
      readonly item: number;
      readonly step: string;
      readonly members: JsonObject;
    }
  /** The result of a server tool; comes once, before the item's end. */
  | {
      readonly type: 'server-result';
      readonly item: number;
      readonly output: string;
      readonly shown: JsonObject;
      readonly isFailed: boolean;
    }
  /** Comes before the item's end; of a tool call, the call's own seal. */
  | { readonly type: 'seal'; readonly item: number; readonly seal: Seal }
  /** `value`: the final form of an opaque item, where it differs from the one it began with. */
  | {
      readonly type: 'item-end';
      readonly item: number;
      readonly status?: ItemStatus;
      readonly value?: JsonObject;
      readonly ext?: Ext;
    }
  /** Vectors of the next inputs, in their order. */
  | { readonly type: 'vectors'; readonly vectors: readonly Vector[] }
  /** A wire event that we do not model, written back only to its own dialect. `item`: the item that it is about. */
  | OpaqueEvent
  | (OpaqueEvent & { readonly item: number })
  /** Token counts as far as known; a later one replaces an earlier one. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /**
   * Relay lane: one upstream event exactly as it came, with what it means. Encoders of the same dialect write `frame`;
   * all other code reads `events`.
   */
  | {
      readonly type: 'relay';
      readonly dialect: DialectName;
      readonly frame: Frame;
      /** `frame.data`, parsed. Encoders may copy and patch it; they never change it. */
      readonly value: JsonObject;
      readonly events: readonly Event[];
      /**
       * Set if the frame holds one piece of text and nothing else. Frames in a row that share it differ in that text
       * alone.
       */
      readonly template?: JsonTemplate | undefined;
      /** True when `value` is a whole non-streaming body rather than one event of a stream. */
      readonly whole?: boolean | undefined;
    }
  /** The upstream request as it was sent, secrets removed; first in the stream, one per attempt. */
  | Echo
  | Finish
  | Failure;

export interface OpaqueEvent {
  readonly type: 'opaque';
  readonly dialect: DialectName;
  readonly value: JsonObject;
}

export interface Echo {
  readonly type: 'debug';
  readonly upstreamBody: JsonObject;
}

export interface Finish {
  readonly type: 'finish';
  readonly reason: FinishReason;
  /** The upstream's own word for the reason. */
  readonly nativeReason?: string;
  readonly stopSequence?: string;
  readonly category?: string;
  readonly explanation?: string;
  /** Tier the upstream says it served. */
  readonly serviceTier?: string;
  readonly ext?: Ext;
  readonly settled?: Settled | undefined;
}

export interface Failure {
  readonly type: 'failure';
  readonly error: GatewayError;
  readonly settled?: Settled | undefined;
}

/** Members that settlement adds to the terminal event. */
export interface Settled {
  readonly usage: Usage;
  readonly bill: Bill;
  /** Present when the caller asked for routing metadata. */
  readonly metadata?: RoutingMetadata | undefined;
}

/** The events of one network chunk. Streams are async iterables of batches, never of single events. */
export type EventBatch = readonly Event[];

/**
 * True for the events that count as content; the only place that decides it. Once content was forwarded, no other
 * endpoint may be tried (`gateway/leg/attempt.ts`); the time to the first content is measured
 * (`gateway/answer/one-leg.ts`, `several-legs.ts`), and an answer that goes on without any is cut off
 * (`upstream/call/batches.ts`). A refusal is not content: another model may still answer.
 * Whether an answer has any output at all is another question: `hasOutput`.
 */
export function isContent(event: Event): boolean {
  switch (event.type) {
    case 'text-delta':
      return event.kind !== 'refusal';
    case 'tool-input-delta':
    case 'image-data':
    case 'annotation':
    case 'seal':
    case 'vectors':
    case 'server-delta':
    case 'server-result':
      return true;
    case 'item-start':
      return CONTENT_HEADS.has(event.head.type);
    case 'relay':
      return event.template !== undefined || hasContent(event.events);
    default:
      return false;
  }
}

/** Kinds of items whose beginning is content. */
const CONTENT_HEADS: ReadonlySet<ItemHead['type']> = new Set(['tool-call', 'server-call', 'opaque']);

export function hasContent(events: readonly Event[]): boolean {
  for (const event of events) if (isContent(event)) return true;
  return false;
}

/** The terminal event that an event is, looked up inside relayed frames too. */
export function terminalOf(event: Event): Finish | Failure | undefined {
  if (event.type === 'finish' || event.type === 'failure') return event;
  if (event.type !== 'relay' || event.template !== undefined) return undefined;
  for (const inner of event.events) {
    const terminal = terminalOf(inner);
    if (terminal !== undefined) return terminal;
  }
  return undefined;
}

/** The place of the terminal event among the events; -1: there is none. */
export function terminalIndex(events: readonly Event[]): number {
  for (let index = 0; index < events.length; index++) {
    if (terminalOf(events[index] as Event) !== undefined) return index;
  }
  return -1;
}
