import type { GatewayError } from '../../ir/errors.ts';
import type { Event, EventBatch, Failure, Finish, ItemHead, PartKind } from '../../ir/events.ts';
import { Fold } from '../../ir/fold.ts';
import type { Item, ItemStatus } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json.ts';
import { writeSseComment, writeSseFrame } from '../../kit/sse.ts';
import type { ReplyContext, StreamEncoder } from '../dialect.ts';
import { coveredBy, INPUT_CHANNELS, isProgressEvent, TERMINAL_EVENTS, TEXT_CHANNELS } from './event-types.ts';
import { ItemIds } from './ids.ts';
import { numberAt, objectAt, stringAt } from './members.ts';
import { renderOutputItem } from './output-items.ts';
import { patchFrame } from './relay-frames.ts';
import { renderAnnotation } from './render-items.ts';
import {
  cutSnapshot,
  type Ending,
  failedSnapshot,
  finishedSnapshot,
  openSnapshot,
  overlay,
} from './snapshot.ts';

/** An output item in the stream that the caller reads. */
interface Shown {
  readonly id: string;
  /** `output_index`. */
  readonly index: number;
  readonly head: ItemHead;
  /** Name of the tool, of calls. */
  readonly name: string | undefined;
  /** The item as its last event wrote it; absent while it is open. */
  done: JsonObject | undefined;
  /** Annotations written so far, by part. */
  readonly annotations: Map<number, number>;
  /** Raw thoughts that were also written as a summary. */
  mirrored: number;
  inputDone: boolean;
}

type EventOf<T extends Event['type']> = Extract<Event, { type: T }>;

const END_MARKER = writeSseFrame('[DONE]');

/** Writes an answer as a stream of this format. */
export class ResponsesEncoder implements StreamEncoder {
  readonly #context: ReplyContext;
  readonly #ids: ItemIds;
  readonly #fold = new Fold();
  /** By position among the events; in the order of their start. */
  readonly #items = new Map<number, Shown>();
  /** Relay lane: the same, by the upstream's `output_index`. */
  readonly #relayed = new Map<number, Shown>();
  #sequence = 0;
  #opened = false;
  #ended = false;
  /** Relay lane: the upstream's own last object, held back until the answer is settled. */
  #upstream: JsonObject | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#ids = new ItemIds(context.generationId);
  }

  encode(batch: EventBatch): string {
    let text = '';
    for (const event of batch) {
      if (this.#ended) break;
      text += this.#event(event);
    }
    return text;
  }

  keepAlive(): string {
    return writeSseComment(`${this.#context.vendor.toUpperCase()} PROCESSING`);
  }

  #event(event: Event): string {
    switch (event.type) {
      case 'debug':
        return this.#write('response.debug', { debug: { echo_upstream_body: event.upstreamBody } });
      case 'relay':
        return this.#relay(event);
      case 'finish':
        return this.#finish(event);
      case 'failure':
        return this.#fail(event);
      default:
        this.#fold.push(event);
        return this.#open() + this.#progress(event);
    }
  }

  /** Writes what an event of the representation says. It is in the fold already. */
  #progress(event: Event): string {
    switch (event.type) {
      case 'item-start':
        return this.#itemStart(event);
      case 'part-start':
        return this.#partStart(event);
      case 'text-delta':
        return this.#text(event);
      case 'annotation':
        return this.#annotation(event);
      case 'part-end':
        return this.#partEnd(event);
      case 'tool-input-delta':
        return this.#input(event);
      case 'item-end':
        return this.#itemEnd(event);
      case 'opaque':
        return this.#opaque(event);
      default:
        return '';
    }
  }

  #write(type: string, fields: JsonObject): string {
    const data = JSON.stringify({ type, sequence_number: this.#sequence++, ...fields });
    return writeSseFrame(data, type);
  }

  #open(upstream?: JsonObject): string {
    if (this.#opened) return '';
    this.#opened = true;
    const response = upstream === undefined ? openSnapshot(this.#context) : overlay(this.#context, upstream);
    response.status = 'in_progress';
    return this.#write('response.created', { response }) + this.#write('response.in_progress', { response });
  }

  // Items

  #itemStart({ item, head }: EventOf<'item-start'>): string {
    const shown = this.#show(item, head);
    if (shown === undefined) return '';
    const begun = this.#renderItem(item, shown, 'in_progress');
    const added = this.#write('response.output_item.added', { output_index: shown.index, item: begun });
    return head.type === 'image' ? added + this.#imageProgress(shown, 'in_progress') : added;
  }

  /** Gives an item its place; undefined for what this format cannot show. */
  #show(item: number, head: ItemHead): Shown | undefined {
    if (head.type === 'opaque' && head.item.dialect !== 'responses') return undefined;
    const shown: Shown = {
      id: this.#ids.idFor(head, this.#items.size),
      index: this.#items.size,
      head,
      name: head.type === 'tool-call' ? head.name : undefined,
      done: undefined,
      annotations: new Map(),
      mirrored: 0,
      inputDone: false,
    };
    this.#items.set(item, shown);
    return shown;
  }

  #renderItem(item: number, shown: Shown, status: ItemStatus): JsonObject {
    const folded = withMirrored(this.#fold.itemAt(item), shown.mirrored);
    const rendered = renderOutputItem(folded, shown.id, status, this.#context.request) ?? { id: shown.id };
    if (status !== 'in_progress') return rendered;
    if (shown.head.type === 'image') return { ...rendered, result: null };
    return shown.head.type === 'opaque' && typeof rendered.status === 'string'
      ? { ...rendered, status }
      : rendered;
  }

  #itemEnd({ item, status = 'completed' }: EventOf<'item-end'>): string {
    const shown = this.#items.get(item);
    if (shown === undefined || shown.done !== undefined) return '';
    const before = this.#inputDone(item, shown) + this.#imageDone(shown);
    shown.done = this.#renderItem(item, shown, status === 'in_progress' ? 'completed' : status);
    return before + this.#write('response.output_item.done', { output_index: shown.index, item: shown.done });
  }

  #imageDone(shown: Shown): string {
    if (shown.head.type !== 'image') return '';
    return this.#imageProgress(shown, 'generating') + this.#imageProgress(shown, 'completed');
  }

  #imageProgress(shown: Shown, step: string): string {
    return this.#write(`response.image_generation_call.${step}`, placeOf(shown));
  }

  // Parts and text

  #hidesReasoning(kind: PartKind): boolean {
    return TEXT_CHANNELS[kind].item === 'reasoning' && this.#context.request.reasoning?.exclude === true;
  }

  /** Thoughts are also written as a summary when one was asked for and the upstream sends none. */
  #mirrors(shown: Shown, item: number, part: number, kind: PartKind): boolean {
    if (kind !== 'thought' || this.#context.request.reasoning?.summary === undefined) return false;
    const folded = this.#fold.itemAt(item);
    return part === shown.mirrored && folded.type === 'reasoning' && folded.summary.length === 0;
  }

  #partStart({ item, part, kind }: EventOf<'part-start'>): string {
    const shown = this.#items.get(item);
    if (shown === undefined || this.#hidesReasoning(kind)) return '';
    const started = this.#partAdded(shown, kind, this.#wirePart(shown, kind, part));
    if (!this.#mirrors(shown, item, part, kind)) return started;
    shown.mirrored = part + 1;
    return started + this.#partAdded(shown, 'summary', part);
  }

  /** Summaries of the upstream's own come after those that were made from raw thoughts. */
  #wirePart(shown: Shown, kind: PartKind, part: number): number {
    return kind === 'summary' ? part + shown.mirrored : part;
  }

  #partAdded(shown: Shown, kind: PartKind, part: number): string {
    const channel = TEXT_CHANNELS[kind];
    return this.#write(channel.partAdded, {
      ...placeOf(shown),
      [channel.index]: part,
      part: partOf(kind, ''),
    });
  }

  #text({ item, part, kind, text, logprobs }: EventOf<'text-delta'>): string {
    const shown = this.#items.get(item);
    if (shown === undefined || this.#hidesReasoning(kind)) return '';
    const index = this.#wirePart(shown, kind, part);
    const piece = this.#delta(shown, kind, index, text, logprobs as JsonObject[] | undefined);
    return kind === 'thought' && part < shown.mirrored
      ? piece + this.#delta(shown, 'summary', part, text)
      : piece;
  }

  #delta(shown: Shown, kind: PartKind, part: number, delta: string, logprobs: JsonObject[] = []): string {
    const channel = TEXT_CHANNELS[kind];
    return this.#write(channel.delta, {
      ...placeOf(shown),
      [channel.index]: part,
      delta,
      ...(kind === 'text' && { logprobs }),
    });
  }

  #annotation({ item, part, annotation }: EventOf<'annotation'>): string {
    const shown = this.#items.get(item);
    const [rendered] = renderAnnotation(annotation);
    if (shown === undefined || rendered === undefined) return '';
    const index = shown.annotations.get(part) ?? 0;
    shown.annotations.set(part, index + 1);
    return this.#write('response.output_text.annotation.added', {
      ...placeOf(shown),
      content_index: part,
      annotation_index: index,
      annotation: rendered,
    });
  }

  #partEnd({ item, part, kind }: EventOf<'part-end'>): string {
    const shown = this.#items.get(item);
    if (shown === undefined || this.#hidesReasoning(kind)) return '';
    const text = this.#fold.textAt(item, part, kind);
    const index = this.#wirePart(shown, kind, part);
    const ended = this.#partDone(shown, kind, index, text, this.#wholePart(item, part, kind, text));
    return kind === 'thought' && part < shown.mirrored
      ? ended + this.#partDone(shown, 'summary', part, text, partOf('summary', text))
      : ended;
  }

  #wholePart(item: number, part: number, kind: PartKind, text: string): JsonObject {
    if (kind !== 'text') return partOf(kind, text);
    const message = renderOutputItem(this.#fold.itemAt(item), '', 'completed', this.#context.request);
    const content = message?.content;
    return (
      (Array.isArray(content) ? (content[part] as JsonObject | undefined) : undefined) ?? partOf(kind, text)
    );
  }

  #partDone(shown: Shown, kind: PartKind, part: number, text: string, whole: JsonObject): string {
    const channel = TEXT_CHANNELS[kind];
    const place = { ...placeOf(shown), [channel.index]: part };
    const logprobs = kind === 'text' && { logprobs: whole.logprobs ?? [] };
    return (
      this.#write(channel.done, { ...place, [channel.doneField]: text, ...logprobs }) +
      this.#write(channel.partDone, { ...place, part: whole })
    );
  }

  // Tool calls

  #input({ item, text }: EventOf<'tool-input-delta'>): string {
    const shown = this.#items.get(item);
    if (shown?.head.type !== 'tool-call') return '';
    return this.#write(INPUT_CHANNELS[shown.head.kind].delta, { ...placeOf(shown), delta: text });
  }

  #inputDone(item: number, shown: Shown): string {
    if (shown.head.type !== 'tool-call' || shown.inputDone) return '';
    shown.inputDone = true;
    const { done, field } = INPUT_CHANNELS[shown.head.kind];
    const name = shown.head.kind === 'function' && { name: shown.head.name };
    return this.#write(done, { ...placeOf(shown), ...name, [field]: this.#fold.inputAt(item) });
  }

  /** Progress of a hosted tool; its `output_index` is the position among the events. */
  #opaque({ dialect, value }: EventOf<'opaque'>): string {
    const type = stringAt(value, 'type') ?? '';
    const shown = this.#items.get(numberAt(value, 'output_index') ?? -1);
    if (dialect !== 'responses' || shown === undefined || !isProgressEvent(type)) return '';
    // The steps of an image are written by the item's own events.
    if (shown.head.type === 'image' && !type.endsWith('.partial_image')) return '';
    const { type: _type, sequence_number: _number, ...fields } = value;
    return this.#write(type, { ...fields, ...placeOf(shown) });
  }

  // Relay lane

  #relay({ dialect, frame, value, events, whole }: EventOf<'relay'>): string {
    const type = stringAt(value, 'type') ?? frame.event ?? '';
    const covered = dialect === 'responses' && whole !== true ? coveredBy(type) : undefined;
    const response = whole === true ? value : objectAt(value, 'response');
    if (dialect === 'responses' && (whole === true || TERMINAL_EVENTS.has(type))) this.#upstream = response;
    const known = this.#relayed.get(numberAt(value, 'output_index') ?? -1);
    const wasDone = known?.done !== undefined;

    let text = events.some(isWritten) ? this.#open(dialect === 'responses' ? response : undefined) : '';
    let says = covered?.size === 0;
    let place: Shown | undefined = known;
    for (const event of events) {
      if (event.type === 'finish' || event.type === 'failure') continue;
      this.#fold.push(event);
      if (!covered?.has(event.type)) {
        text += this.#progress(event);
      } else {
        says = true;
        if (event.type === 'item-start') this.#show(event.item, event.head);
      }
      if ('item' in event) place = this.#items.get(event.item) ?? place;
    }
    const index = numberAt(value, 'output_index');
    if (place !== undefined && index !== undefined) this.#relayed.set(index, place);
    return says && !wasDone && place !== undefined
      ? text + this.#frame(type, frame.data, value, place)
      : text;
  }

  /** The upstream's own event, verbatim where it needs no change. */
  #frame(type: string, data: string, value: JsonObject, shown: Shown): string {
    const { request } = this.#context;
    const isReasoning = shown.head.type === 'reasoning';
    if (isReasoning && request.reasoning?.exclude === true && objectAt(value, 'item') === undefined)
      return '';
    let before = '';
    if (type === 'response.output_item.done') {
      before = this.#inputDone(this.#positionOf(shown), shown);
    } else if (type === INPUT_CHANNELS.function.done || type === INPUT_CHANNELS.custom.done) {
      shown.inputDone = true;
    } else if (type === 'response.output_text.annotation.added') {
      const part = numberAt(value, 'content_index') ?? 0;
      shown.annotations.set(part, (shown.annotations.get(part) ?? 0) + 1);
    }
    const patched = patchFrame(value, type, this.#sequence++, shown, request);
    if (type === 'response.output_item.done') shown.done = objectAt(patched, 'item');
    const isVerbatim = patched === value && !data.includes('\n');
    return before + writeSseFrame(isVerbatim ? data : JSON.stringify(patched), type);
  }

  #positionOf(shown: Shown): number {
    for (const [item, other] of this.#items) if (other === shown) return item;
    return -1;
  }

  // Ends

  #finish(finish: Finish): string {
    this.#fold.push(finish);
    const text = this.#open() + this.#refusal(finish) + this.#closeItems();
    const response = finishedSnapshot(this.#context, finish, this.#ending(finish));
    return text + this.#last(response);
  }

  /** A refusal that no part of the answer shows is shown in words. */
  #refusal(finish: Finish): string {
    const shows = this.#fold
      .result()
      .items.some((item) => item.type === 'message' && item.content.some((part) => part.type === 'refusal'));
    if (finish.reason !== 'refusal' || shows) return '';
    const item = Math.max(-1, ...this.#items.keys()) + 1;
    const part = { item, part: 0, kind: 'refusal' } as const;
    const events: Event[] = [
      { type: 'item-start', item, head: { type: 'message' } },
      { type: 'part-start', ...part },
      { type: 'text-delta', ...part, text: refusalText(finish) },
      { type: 'part-end', ...part },
      { type: 'item-end', item, status: 'completed' },
    ];
    return this.#closeItems() + events.map((event) => this.#event(event)).join('');
  }

  /** Decoders close what they open; an item that is still open here gets its end all the same. */
  #closeItems(): string {
    let text = '';
    for (const [item, shown] of this.#items) {
      if (shown.done === undefined) text += this.#itemEnd({ type: 'item-end', item });
    }
    return text;
  }

  #fail(failure: Failure): string {
    const { error } = failure;
    const wasOpen = this.#opened;
    const text = this.#open();
    const ending = this.#ending(failure);
    const response =
      wasOpen && isCut(error)
        ? cutSnapshot(this.#context, ending)
        : failedSnapshot(this.#context, error, ending);
    return text + this.#last(response);
  }

  #last(response: JsonObject): string {
    this.#ended = true;
    return this.#write(`response.${response.status}`, { response }) + END_MARKER;
  }

  #ending({ type, settled }: Finish | Failure): Ending {
    const output = [...this.#items].map(
      ([item, shown]) => shown.done ?? this.#renderItem(item, shown, 'incomplete'),
    );
    const { usage } = this.#fold.result();
    return { output, usage, settled, upstream: type === 'finish' ? this.#upstream : undefined };
  }
}

/** Reasoning with the summaries that were made from its first raw thoughts. */
function withMirrored(item: Item, mirrored: number): Item {
  if (item.type !== 'reasoning' || mirrored === 0) return item;
  return { ...item, summary: [...item.text.slice(0, mirrored), ...item.summary] };
}

function placeOf(shown: Shown): JsonObject {
  return { item_id: shown.id, output_index: shown.index };
}

function partOf(kind: PartKind, text: string): JsonObject {
  const { partType, partField } = TEXT_CHANNELS[kind];
  return kind === 'text'
    ? { type: partType, text, annotations: [], logprobs: [] }
    : { type: partType, [partField]: text };
}

/** True for events that cannot be written before the stream is open. */
function isWritten(event: Event): boolean {
  return event.type !== 'usage' && event.type !== 'finish' && event.type !== 'failure';
}

function isCut(error: GatewayError): boolean {
  return error.kind === 'context-length';
}

/** What a refusal says where the model gave no words for it. */
export function refusalText(finish: Finish): string {
  return finish.explanation ?? 'The model declined to answer.';
}
