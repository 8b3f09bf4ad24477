import type { GatewayError } from '../../ir/errors.ts';
import type { Event, EventBatch, Failure, Finish, ItemHead, PartKind } from '../../ir/events.ts';
import { Fold } from '../../ir/folding/fold.ts';
import type { Annotation, ItemStatus, OutputItem } from '../../ir/items.ts';
import { writeSseComment, writeSseFrame } from '../../kit/frames/sse.ts';
import { stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { ReplyContext, StreamEncoder } from '../dialect.ts';
import { isEventName } from '../shared/answers/event-names.ts';
import { renderAnnotation } from './citations.ts';
import {
  cutSnapshot,
  type Ending,
  failedSnapshot,
  finishedSnapshot,
  openSnapshot,
  overlay,
} from './encode-body.ts';
import { searchBegun, searchResult, shownWith } from './encode-calls.ts';
import {
  END_MARKER,
  endedCall,
  FrameWriter,
  keptItem,
  type Placement,
  partOf,
  placeOf,
  refusalText,
  renderOutputItem,
  renderOutputPart,
  showsRefusal,
  TextDrafts,
} from './encode-content.ts';
import { patchFrame, patchUnplaced, withoutError } from './encode-relay.ts';
import { ItemIds } from './ids.ts';
import { commandsOf, type LocalShell, shellCalled, shellIdPrefix } from './local-shells.ts';
import {
  coveredBy,
  hostedItemOf,
  IMAGE_STEPS,
  INPUT_CHANNELS,
  stepEventOf,
  TERMINAL_EVENTS,
  TEXT_CHANNELS,
} from './wire.ts';

/** An output item in the caller's stream. */
interface Shown extends Placement {
  readonly head: ItemHead;
  /** Set if the call is meant for a shell of the caller. */
  readonly shell?: LocalShell;
  /** Position in the representation. */
  readonly item: number;
  /** The item as its last event has it; absent while it is open. */
  done?: JsonObject | undefined;
  /** Annotations written so far, by part. */
  readonly annotations: Map<number, number>;
  /** Annotations that cover the whole text of the open part: written at its end. */
  waiting: Annotation[];
  /** Number of raw thoughts, from the first on, that were also written as summaries. */
  mirrored: number;
  /** True if the upstream writes summaries of its own. */
  hasSummary: boolean;
  inputDone: boolean;
  /** Pieces of a server tool's result so far. */
  resultText: string;
}

type EventOf<T extends Event['type']> = Extract<Event, { type: T }>;

export function createEncoder(context: ReplyContext): StreamEncoder {
  return new ResponsesEncoder(context);
}

class ResponsesEncoder implements StreamEncoder {
  readonly #context: ReplyContext;
  readonly #ids: ItemIds;
  readonly #writer: FrameWriter;
  readonly #fold = new Fold();
  readonly #drafts = new TextDrafts();
  /** Shown items by position in the representation, in the order of their starts. */
  readonly #items = new Map<number, Shown>();
  /** Relay lane: the items by the upstream's `output_index`. */
  readonly #relayed = new Map<number, Shown>();
  /** Items of searches that an upstream of another dialect ran, by the ids of their calls. */
  #searches: Map<string, number> | undefined;
  #opened = false;
  #ended = false;
  /** Relay lane: the upstream's own last object, held back until the answer is settled. */
  #upstream: JsonObject | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#ids = new ItemIds(context.generationId);
    this.#writer = new FrameWriter(context.request.exactNumbers);
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

  /** A caller that left early may later refer to the items that it was given. */
  close(): void {
    if (this.#ended || this.#context.keepItem === undefined) return;
    this.#ended = true;
    for (const shown of this.#items.values()) if (shown.done === undefined) this.#cutItem(shown);
  }

  #event(event: Event): string {
    switch (event.type) {
      case 'debug':
        return this.#writer.write('response.debug', { debug: { echo_upstream_body: event.upstreamBody } });
      case 'relay':
        return this.#relay(event);
      case 'finish':
        return this.#finish(event);
      case 'failure':
        return this.#fail(event);
      default:
        this.#keep(event);
        return this.#open() + this.#progress(event);
    }
  }

  /** Collects the state of an event, in both lanes. */
  #keep(event: Event): void {
    this.#fold.push(event);
    this.#drafts.see(event);
    const isOfSummary =
      (event.type === 'part-start' || event.type === 'text-delta') && event.kind === 'summary';
    const shown = isOfSummary ? this.#items.get(event.item) : undefined;
    if (shown !== undefined) shown.hasSummary = true;
  }

  /** Writes an event of the representation, after `#keep`. */
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
      case 'server-delta':
        return this.#resultText(event);
      case 'server-step':
        return this.#step(event.item, event.step, event.members);
      case 'server-result':
        return this.#stepsDone(event);
      case 'item-end':
        return this.#itemEnd(event);
      case 'opaque':
        return this.#opaque(event);
      default:
        return '';
    }
  }

  #open(upstream?: JsonObject): string {
    if (this.#opened) return '';
    this.#opened = true;
    const base = upstream === undefined ? openSnapshot(this.#context) : overlay(this.#context, upstream);
    const response = { ...base, status: 'in_progress' };
    return (
      this.#writer.write('response.created', { response }) +
      this.#writer.write('response.in_progress', { response })
    );
  }

  // --- Content ------------------------------------------------------------------------------------------------------

  #itemStart({ item, head }: EventOf<'item-start'>): string {
    const shown = this.#show(item, head);
    if (shown === undefined) return this.#foundBySearch(item);
    const added = this.#writer.item('added', shown, this.#render(shown, 'in_progress'));
    if (head.type === 'image') return added + this.#writer.imageStep('in_progress', shown);
    const hosted = head.type === 'server-call' ? hostedItemOf(head) : undefined;
    if (hosted === undefined || head.type !== 'server-call') return added + this.#step(item, 'in_progress');
    // In the order of the stream: each event takes its number as it is written.
    let text = added;
    for (const step of hosted.begun.slice(0, -1)) text += this.#writer.hostedStep(hosted, step, shown);
    text += this.#writer.hostedCode(hosted, head.input, shown);
    for (const step of hosted.begun.slice(-1)) text += this.#writer.hostedStep(hosted, step, shown);
    return text + this.#writer.hostedInput(hosted, head.input, shown);
  }

  /** Gives an item its position; undefined for kinds that this format does not have. */
  #show(item: number, head: ItemHead): Shown | undefined {
    if (head.type === 'opaque' && head.item.dialect !== 'responses') return undefined;
    const { tools } = this.#context.request;
    const shell = head.type === 'tool-call' ? shellCalled(head, tools) : undefined;
    const shown: Shown = {
      id: this.#ids.idFor(head, this.#items.size, shell && shellIdPrefix(shell)),
      ...(shell !== undefined && { shell }),
      index: this.#items.size,
      ...(head.type === 'tool-call' && { name: head.name }),
      head,
      item,
      annotations: new Map(),
      waiting: [],
      mirrored: 0,
      hasSummary: false,
      inputDone: false,
      resultText: '',
    };
    this.#items.set(item, shown);
    return shown;
  }

  #render(shown: Shown, status: ItemStatus): JsonObject {
    const item = withMirrored(this.#fold.itemAt(shown.item), shown.mirrored);
    const rendered = renderOutputItem(item, shown.id, status, this.#context) ?? { id: shown.id };
    if (status !== 'in_progress') return rendered;
    if (shown.head.type === 'image') return { ...rendered, result: null };
    const hosted = shown.head.type === 'server-call' ? hostedItemOf(shown.head) : undefined;
    if (hosted?.input?.events !== undefined) return { ...rendered, arguments: '' };
    if (hosted?.code !== undefined) return { ...rendered, code: '' };
    const hasStatus = shown.head.type === 'opaque' && typeof rendered.status === 'string';
    return hasStatus ? { ...rendered, status } : rendered;
  }

  #itemEnd({ item, status = 'completed' }: EventOf<'item-end'>): string {
    const shown = this.#items.get(item);
    if (shown === undefined) return this.#searched(item);
    if (shown.done !== undefined) return '';
    const before =
      this.#inputDone(shown) + this.#imageDone(shown) + this.#hostedDone(shown) + this.#resultTextDone(shown);
    shown.done = this.#render(shown, status === 'in_progress' ? 'completed' : status);
    this.#context.keepItem?.(keptItem(shown.done, this.#fold.itemAt(item)));
    return before + this.#writer.item('done', shown, shown.done);
  }

  /** Shows a search that an upstream of another dialect ran, once its query is known. */
  #searched(item: number): string {
    const head = searchBegun(this.#fold.itemAt(item));
    if (head === undefined) return '';
    this.#searches ??= new Map();
    this.#searches.set(head.callId, item);
    return this.#event({ type: 'item-start', item, head });
  }

  /** Ends the search whose result an item is. */
  #foundBySearch(item: number): string {
    const result = searchResult(this.#fold.itemAt(item));
    const search = result && this.#searches?.get(result.callId);
    const head = search === undefined ? undefined : this.#items.get(search)?.head;
    if (result === undefined || search === undefined || head?.type !== 'server-call') return '';
    const { output, isFailed } = result;
    const shown = shownWith(head.shown, result);
    return (
      this.#event({ type: 'server-result', item: search, output, shown, isFailed }) +
      this.#event({ type: 'item-end', item: search, status: 'completed' })
    );
  }

  #imageDone(shown: Shown): string {
    if (shown.head.type !== 'image') return '';
    return this.#writer.imageStep('generating', shown) + this.#writer.imageStep('completed', shown);
  }

  #hostedDone({ head, item, ...at }: Shown): string {
    const hosted = head.type === 'server-call' ? hostedItemOf(head) : undefined;
    const ended = hosted && this.#fold.itemAt(item);
    const step = ended?.type === 'server-call' ? hosted?.ended[endedCall(ended).status] : undefined;
    return hosted === undefined || step === undefined ? '' : this.#writer.hostedStep(hosted, step, at);
  }

  /** A step of a server tool that has events of its own. */
  #step(item: number, step: string, members: JsonObject = {}): string {
    const shown = this.#items.get(item);
    const type = shown?.head.type === 'server-call' ? stepEventOf(shown.head, step) : undefined;
    return shown === undefined || type === undefined
      ? ''
      : this.#writer.write(type, { ...placeOf(shown), ...members });
  }

  #stepsDone({ item, shown: { analysis }, isFailed }: EventOf<'server-result'>): string {
    const judged = analysis === undefined ? '' : this.#step(item, 'analysis.completed', { analysis });
    return isFailed ? judged : judged + this.#step(item, 'completed');
  }

  /** Text of a server tool is written under its item, without parts. */
  #resultText({ item, text }: EventOf<'server-delta'>): string {
    const shown = this.#items.get(item);
    if (shown === undefined) return '';
    shown.resultText += text;
    return this.#writer.delta(shown, 'text', 0, text);
  }

  #resultTextDone(shown: Shown): string {
    return shown.resultText === '' ? '' : this.#writer.resultTextDone(shown, shown.resultText);
  }

  // --- Parts and text -----------------------------------------------------------------------------------------------

  /** The item that shows a piece of text. */
  #shownFor(item: number, kind: PartKind): Shown | undefined {
    const isHidden =
      TEXT_CHANNELS[kind].item === 'reasoning' && this.#context.request.reasoning?.exclude === true;
    return isHidden ? undefined : this.#items.get(item);
  }

  #partStart({ item, part, kind }: EventOf<'part-start'>): string {
    const shown = this.#shownFor(item, kind);
    if (shown === undefined) return '';
    const started = this.#writer.partAdded(shown, kind, wirePart(shown, kind, part));
    if (!this.#mirrors(shown, part, kind)) return started;
    shown.mirrored = part + 1;
    return started + this.#writer.partAdded(shown, 'summary', part);
  }

  /** Thoughts are also written as a summary if one was requested and the upstream sends none. */
  #mirrors(shown: Shown, part: number, kind: PartKind): boolean {
    const isAskedFor = kind === 'thought' && this.#context.request.reasoning?.summary !== undefined;
    return isAskedFor && part === shown.mirrored && !shown.hasSummary;
  }

  #text({ item, part, kind, text, logprobs }: EventOf<'text-delta'>): string {
    const shown = this.#shownFor(item, kind);
    if (shown === undefined) return '';
    const index = wirePart(shown, kind, part);
    const piece = this.#writer.delta(shown, kind, index, text, logprobs && [...logprobs]);
    return isMirrored(shown, kind, part) ? piece + this.#writer.delta(shown, 'summary', part, text) : piece;
  }

  #annotation({ item, part, annotation }: EventOf<'annotation'>): string {
    const shown = this.#items.get(item);
    if (shown === undefined) return '';
    if (isAboutAll(annotation)) {
      shown.waiting.push(annotation);
      return '';
    }
    return this.#writeAnnotation(shown, part, annotation, '');
  }

  /** `text`: the text of an annotation that covers all of it. */
  #writeAnnotation(shown: Shown, part: number, annotation: Annotation, text: string): string {
    const [rendered] = renderAnnotation(annotation, text);
    if (rendered === undefined) return '';
    return this.#writer.annotation(shown, part, countAnnotation(shown, part), rendered);
  }

  #waitingAnnotations(shown: Shown, part: number): string {
    if (shown.waiting.length === 0) return '';
    const text = this.#fold.textAt(shown.item, part, 'text');
    const waiting = shown.waiting.splice(0);
    return waiting.map((annotation) => this.#writeAnnotation(shown, part, annotation, text)).join('');
  }

  #partEnd({ item, part, kind }: EventOf<'part-end'>): string {
    const shown = this.#shownFor(item, kind);
    if (shown === undefined) return '';
    const annotated = kind === 'text' ? this.#waitingAnnotations(shown, part) : '';
    const text = this.#fold.textAt(item, part, kind);
    const whole = (kind === 'text' ? this.#textPart(item, part, text) : undefined) ?? partOf(kind, text);
    const ended = annotated + this.#writer.partDone(shown, kind, wirePart(shown, kind, part), text, whole);
    if (!isMirrored(shown, kind, part)) return ended;
    return ended + this.#writer.partDone(shown, 'summary', part, text, partOf('summary', text));
  }

  #textPart(item: number, part: number, text: string): JsonObject | undefined {
    return renderOutputPart(this.#drafts.take(item, part, text))[0];
  }

  // --- Tool calls ---------------------------------------------------------------------------------------------------

  #input({ item, text }: EventOf<'tool-input-delta'>): string {
    const shown = this.#items.get(item);
    if (shown?.head.type !== 'tool-call' || shown.shell !== undefined) return '';
    return this.#writer.inputDelta(shown, shown.head.kind, text);
  }

  #inputDone(shown: Shown): string {
    if (shown.head.type !== 'tool-call' || shown.inputDone) return '';
    shown.inputDone = true;
    const input = this.#fold.inputAt(shown.item);
    if (shown.shell !== undefined) {
      return this.#writer.shellCommands(shown, commandsOf(shown.shell, input));
    }
    return this.#writer.inputDone(shown, shown.head.kind, input);
  }

  /**
   * An event that the gateway does not model. It need not be about an item, nor come before the item's end. `data`: the
   * frame that it came in, in the relay lane.
   */
  #opaque(event: EventOf<'opaque'>, data?: string): string {
    const { dialect, value: given } = event;
    const type = stringAt(given, 'type') ?? '';
    if (dialect !== 'responses' || !isEventName(type)) return '';
    const value = withoutError(given);
    if (!('item' in event)) {
      const patched = patchUnplaced(value, this.#writer.take(), data !== undefined);
      return this.#write(type, data, given, patched);
    }
    const shown = this.#items.get(event.item);
    if (shown === undefined || (data === undefined && shown.head.type === 'image' && IMAGE_STEPS.has(type)))
      return '';
    return this.#frame(type, value === given ? data : undefined, value, shown);
  }

  // --- Relay --------------------------------------------------------------------------------------------------------

  /**
   * Writes the events that the upstream's frame does not include, then the frame. A terminal frame is only stored: the
   * settled one follows as an event of its own.
   */
  #relay({ dialect, frame, value, events, whole }: EventOf<'relay'>): string {
    const type = stringAt(value, 'type') ?? frame.event ?? '';
    const isOwn = dialect === 'responses';
    const response = whole === true ? value : objectAt(value, 'response');
    if (isOwn && (whole === true || TERMINAL_EVENTS.has(type))) this.#upstream = response;
    const covered = isOwn && whole !== true ? coveredBy(type) : undefined;
    const index = numberAt(value, 'output_index') ?? -1;
    let shown = this.#relayed.get(index);
    const wasDone = shown?.done !== undefined;

    let text = events.some(needsOpenStream) ? this.#open(isOwn ? response : undefined) : '';
    let isSaid = covered?.size === 0;
    for (const event of events) {
      if (event.type === 'finish' || event.type === 'failure') continue;
      this.#keep(event);
      if (event.type === 'opaque') {
        isSaid = false;
        text += this.#opaque(event, event.value === value ? frame.data : undefined);
      } else if (covered?.has(event.type)) {
        isSaid = true;
        if (event.type === 'item-start') this.#show(event.item, event.head);
        if (event.type === 'part-end' && shown !== undefined) {
          text += this.#waitingAnnotations(shown, event.part);
        }
      } else {
        text += this.#progress(event);
      }
      if ('item' in event) shown = this.#items.get(event.item) ?? shown;
    }
    if (shown === undefined) return text;
    this.#relayed.set(index, shown);
    return isSaid && !wasDone ? text + this.#frame(type, frame.data, value, shown) : text;
  }

  /** The upstream's own event; `data` verbatim if it needs no change. */
  #frame(type: string, data: string | undefined, value: JsonObject, shown: Shown): string {
    const { request } = this.#context;
    const isHidden = shown.head.type === 'reasoning' && request.reasoning?.exclude === true;
    if (isHidden && objectAt(value, 'item') === undefined) return '';
    const isItemDone = type === 'response.output_item.done';
    const before = isItemDone ? this.#inputDone(shown) : '';
    if (type === INPUT_CHANNELS.function.done || type === INPUT_CHANNELS.custom.done) shown.inputDone = true;
    if (type === 'response.output_text.annotation.added') {
      countAnnotation(shown, numberAt(value, 'content_index') ?? 0);
    }
    const patched = patchFrame(value, type, this.#writer.take(), shown, request);
    if (isItemDone) this.#relayedItemDone(shown, objectAt(patched, 'item'));
    return before + this.#write(type, data, value, patched);
  }

  #write(type: string, data: string | undefined, value: JsonObject, patched: JsonObject): string {
    if (data !== undefined && patched === value && !data.includes('\n')) return writeSseFrame(data, type);
    return writeSseFrame(stringifyExactly(patched, this.#context.request.exactNumbers), type);
  }

  #relayedItemDone(shown: Shown, item: JsonObject | undefined): void {
    shown.done = item;
    if (item !== undefined) this.#context.keepItem?.(item);
  }

  // --- The end ------------------------------------------------------------------------------------------------------

  #finish(finish: Finish): string {
    this.#fold.push(finish);
    const text = this.#open() + this.#closeItems() + this.#refusal(finish);
    return text + this.#last(finishedSnapshot(this.#context, finish, this.#ending(finish)));
  }

  /** Decoders close what they open; an item that is still open here is closed all the same. */
  #closeItems(): string {
    let text = '';
    for (const item of this.#items.keys()) text += this.#itemEnd({ type: 'item-end', item });
    return text;
  }

  /** Writes a refusal as text if no part of the answer shows it. */
  #refusal(finish: Finish): string {
    if (finish.reason !== 'refusal' || showsRefusal(this.#fold.result().items)) return '';
    const item = [...this.#items.keys()].reduce((next, known) => Math.max(next, known + 1), 0);
    const part = { item, part: 0, kind: 'refusal' } as const;
    const events: Event[] = [
      { type: 'item-start', item, head: { type: 'message' } },
      { type: 'part-start', ...part },
      { type: 'text-delta', ...part, text: refusalText(finish) },
      { type: 'part-end', ...part },
      { type: 'item-end', item, status: 'completed' },
    ];
    return events.map((event) => this.#event(event)).join('');
  }

  #fail(failure: Failure): string {
    const { error } = failure;
    const isCut = this.#opened && error.kind === 'context-length';
    const text = this.#echoes(error) + this.#open();
    const ending = this.#ending(failure);
    return (
      text +
      this.#last(
        isCut ? cutSnapshot(this.#context, error, ending) : failedSnapshot(this.#context, error, ending),
      )
    );
  }

  /** Requests that were sent in vain: a failure in the stream has no metadata that could hold them. */
  #echoes({ metadata }: GatewayError): string {
    const echoes = metadata === undefined ? [] : objectsAt(metadata, 'echo_upstream_body');
    return echoes.map((upstreamBody) => this.#event({ type: 'debug', upstreamBody })).join('');
  }

  #last(response: JsonObject): string {
    this.#ended = true;
    return this.#writer.write(`response.${response.status}`, { response }) + END_MARKER;
  }

  #ending({ type, settled }: Finish | Failure): Ending {
    const output = [...this.#items.values()].map((shown) => shown.done ?? this.#cutItem(shown));
    const { usage } = this.#fold.result();
    return { output, usage, settled, upstream: type === 'finish' ? this.#upstream : undefined };
  }

  /** The output so far of an item without an end. */
  #cutItem(shown: Shown): JsonObject {
    const item = this.#render(shown, 'incomplete');
    this.#context.keepItem?.(item);
    return item;
  }
}

/** The upstream's own summaries follow those made from raw thoughts. */
function wirePart(shown: Shown, kind: PartKind, part: number): number {
  return kind === 'summary' ? part + shown.mirrored : part;
}

function isMirrored(shown: Shown, kind: PartKind, part: number): boolean {
  return kind === 'thought' && part < shown.mirrored;
}

/** Reasoning with the summaries that were made from its first raw thoughts. */
function withMirrored(item: OutputItem, mirrored: number): OutputItem {
  if (item.type !== 'reasoning' || mirrored === 0) return item;
  return { ...item, summary: [...item.text.slice(0, mirrored), ...item.summary] };
}

/** True for an annotation without a position. */
function isAboutAll(annotation: Annotation): boolean {
  return annotation.type === 'url-citation' && annotation.endIndex === undefined;
}

/** Counts one more annotation of a part; returns its index. */
function countAnnotation(shown: Shown, part: number): number {
  const index = shown.annotations.get(part) ?? 0;
  shown.annotations.set(part, index + 1);
  return index;
}

/** True for events that cannot be written before the stream is open. */
function needsOpenStream(event: Event): boolean {
  return event.type !== 'usage' && event.type !== 'finish' && event.type !== 'failure';
}
