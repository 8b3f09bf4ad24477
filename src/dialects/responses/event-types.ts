import type { Event, ItemHead, PartKind } from '../../ir/events.ts';
import { lookUp } from '../../kit/collections/lookup.ts';

/** The events of this format's streams, as tables. */

/** How pieces of text travel: their kind, the kind of item they belong to, and the field that counts the parts. */
export interface TextChannel {
  readonly kind: PartKind;
  readonly item: 'message' | 'reasoning';
  readonly index: 'content_index' | 'summary_index';
  /** Event of one piece. */
  readonly delta: string;
  /** Event of the whole text, and the member that holds it. */
  readonly done: string;
  readonly doneField: string;
  /** Events around the part. */
  readonly partAdded: string;
  readonly partDone: string;
  /** Type of the part, and the member that holds its text. */
  readonly partType: string;
  readonly partField: string;
}

const CONTENT_PART = {
  index: 'content_index',
  partAdded: 'response.content_part.added',
  partDone: 'response.content_part.done',
} as const;

export const TEXT_CHANNELS: Readonly<Record<PartKind, TextChannel>> = {
  text: {
    kind: 'text',
    item: 'message',
    ...CONTENT_PART,
    delta: 'response.output_text.delta',
    done: 'response.output_text.done',
    doneField: 'text',
    partType: 'output_text',
    partField: 'text',
  },
  refusal: {
    kind: 'refusal',
    item: 'message',
    ...CONTENT_PART,
    delta: 'response.refusal.delta',
    done: 'response.refusal.done',
    doneField: 'refusal',
    partType: 'refusal',
    partField: 'refusal',
  },
  thought: {
    kind: 'thought',
    item: 'reasoning',
    ...CONTENT_PART,
    delta: 'response.reasoning_text.delta',
    done: 'response.reasoning_text.done',
    doneField: 'text',
    partType: 'reasoning_text',
    partField: 'text',
  },
  summary: {
    kind: 'summary',
    item: 'reasoning',
    index: 'summary_index',
    partAdded: 'response.reasoning_summary_part.added',
    partDone: 'response.reasoning_summary_part.done',
    delta: 'response.reasoning_summary_text.delta',
    done: 'response.reasoning_summary_text.done',
    doneField: 'text',
    partType: 'summary_text',
    partField: 'text',
  },
};

const CHANNELS = Object.values(TEXT_CHANNELS);

/** Channels by the event that carries a piece. The last entry is an older name of raw thoughts. */
export const CHANNEL_BY_DELTA: ReadonlyMap<string, TextChannel> = new Map([
  ...CHANNELS.map((channel) => [channel.delta, channel] as const),
  ['response.reasoning.delta', TEXT_CHANNELS.thought],
]);

/** Channels by the event that carries the whole text. */
export const CHANNEL_BY_DONE: ReadonlyMap<string, TextChannel> = new Map(
  CHANNELS.map((channel) => [channel.done, channel]),
);

/** Channels by the type of a part. */
export const CHANNEL_BY_PART: ReadonlyMap<string, TextChannel> = new Map(
  CHANNELS.map((channel) => [channel.partType, channel]),
);

/** How the input of a tool call travels. */
export const INPUT_CHANNELS = {
  function: {
    type: 'function_call',
    field: 'arguments',
    delta: 'response.function_call_arguments.delta',
    done: 'response.function_call_arguments.done',
  },
  custom: {
    type: 'custom_tool_call',
    field: 'input',
    delta: 'response.custom_tool_call_input.delta',
    done: 'response.custom_tool_call_input.done',
  },
} as const;

/** Events that begin an answer; each holds a snapshot. */
export const OPENING_EVENTS: ReadonlySet<string> = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
]);

/** Events that end an answer; each holds a snapshot. */
export const TERMINAL_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
]);

/** Progress events of hosted tools that callers' libraries know: passed on, not modelled. */
const PROGRESS_EVENT =
  /^response\.(?:(?:web_search_call|file_search_call|image_generation_call|code_interpreter_call|mcp_call|mcp_list_tools)\.[a-z_]{1,32}|(?:code_interpreter_call_code|mcp_call_arguments)\.(?:delta|done))$/;

export function isProgressEvent(type: string): boolean {
  return PROGRESS_EVENT.test(type);
}

/** What a wire event says by itself, in events of the representation; undefined for types that are never relayed. */
export function coveredBy(type: string): ReadonlySet<Event['type']> | undefined {
  return lookUp(COVERED, type) ?? (isProgressEvent(type) ? OPAQUE_ONLY : undefined);
}

const OPAQUE_ONLY: ReadonlySet<Event['type']> = new Set(['opaque'] as const);
const NOTHING: ReadonlySet<Event['type']> = new Set();

const COVERED: Readonly<Record<string, ReadonlySet<Event['type']>>> = {
  'response.output_item.added': new Set(['item-start'] as const),
  'response.output_item.done': new Set(['seal', 'image-data', 'item-end'] as const),
  'response.output_text.annotation.added': new Set(['annotation'] as const),
  ...Object.fromEntries(
    CHANNELS.flatMap((channel) => [
      [channel.partAdded, new Set(['part-start'] as const)],
      [channel.partDone, new Set(['part-end'] as const)],
      [channel.delta, new Set(['text-delta'] as const)],
      [channel.done, NOTHING],
    ]),
  ),
  ...Object.fromEntries(
    Object.values(INPUT_CHANNELS).flatMap((channel) => [
      [channel.delta, new Set(['tool-input-delta'] as const)],
      [channel.done, NOTHING],
    ]),
  ),
};

/** Kinds of items that must not overlap with one another in the representation. */
export function isExclusive(type: ItemHead['type']): boolean {
  return type === 'message' || type === 'reasoning';
}
