import type { Event, PartKind, Seal } from '../../ir/events.ts';
import type { ItemStatus, Logprobs } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { layOver } from '../../kit/json/lay-over.ts';
import { numberAt, objectAt, textAt } from '../../kit/json/members.ts';
import { GrowingText } from '../../kit/text/growing-text.ts';
import { readAnnotation } from './citations.ts';
import { parseUrl } from './media.ts';
import { DetailGroup } from './reasoning.ts';

// --- Open items -----------------------------------------------------------------------------------------------------

interface OpenPart {
  readonly kind: PartKind;
  readonly part: number;
  /** Index of the part in the upstream's `reasoning_details`. */
  index: number | undefined;
}

interface OpenMessage {
  readonly type: 'message';
  readonly item: number;
  readonly parts: Parts;
}

interface OpenReasoning {
  readonly type: 'reasoning';
  readonly item: number;
  readonly parts: Parts;
  readonly group: DetailGroup;
  format: string | undefined;
  isSealed: boolean;
}

interface OpenAudio {
  readonly type: 'audio';
  readonly item: number;
  /** All pieces so far, in an object of our own. */
  readonly value: JsonObject;
}

/** The parts of an open item: the current one and their number. Summaries are counted separately. */
interface Parts {
  current: OpenPart | undefined;
  readonly counts: { main: number; summary: number };
}

/** The item that is being written; tool calls are kept apart because they may interleave. */
type OpenItem = OpenMessage | OpenReasoning | OpenAudio;

// --- Items ----------------------------------------------------------------------------------------------------------

/** Turns the pieces of an answer into events: begins items and parts when something new starts, and ends them. */
export class ItemWriter {
  /** Events that were not taken yet. Undefined for none, because a list that grows costs more. */
  #events: Event[] | undefined;
  #items = 0;
  #open: OpenItem | undefined;
  #hasRefusal = false;
  /** Length of the text so far, and the start of the current text part in it. */
  #textLength = 0;
  #textStart = 0;

  /** Number of items so far, with tool calls. */
  get count(): number {
    return this.#items;
  }

  get hasRefusal(): boolean {
    return this.#hasRefusal;
  }

  /** True while an item other than a tool call is being written. */
  get isWriting(): boolean {
    return this.#open !== undefined;
  }

  emit(event: Event): void {
    if (this.#events === undefined) this.#events = [event];
    else this.#events.push(event);
  }

  /** The events since the last call. */
  take(): Event[] {
    const events = this.#events ?? [];
    this.#events = undefined;
    return events;
  }

  /** Ends the open item and returns the position of a new one. */
  beginItem(): number {
    this.close('completed');
    return this.#items++;
  }

  writeText(kind: 'text' | 'refusal', text: string, logprobs: Logprobs | undefined): void {
    const message = this.#openMessage();
    const part = this.#partFor(message, kind);
    this.#hasRefusal ||= kind === 'refusal';
    if (kind === 'text') this.#textLength += text.length;
    const { item } = message;
    this.emit(
      logprobs === undefined
        ? { type: 'text-delta', item, part, kind, text }
        : { type: 'text-delta', item, part, kind, text, logprobs },
    );
  }

  #openMessage(): OpenMessage {
    if (this.#open?.type === 'message') return this.#open;
    const message: OpenMessage = { type: 'message', item: this.beginItem(), parts: noParts() };
    this.emit({ type: 'item-start', item: message.item, head: { type: 'message' } });
    this.#open = message;
    return message;
  }

  annotate(value: JsonObject): void {
    const message = this.#openMessage();
    const part = this.#partFor(message, 'text');
    const annotation = readAnnotation(value, this.#textStart);
    this.emit({ type: 'annotation', item: message.item, part, annotation });
  }

  writeThought(kind: 'thought' | 'summary', text: string, detail: JsonObject = {}): void {
    const reasoning = this.#openReasoning(detail);
    const part = this.#partFor(reasoning, kind, numberAt(detail, 'index'));
    this.emit({ type: 'text-delta', item: reasoning.item, part, kind, text });
  }

  writeSeal(seal: Seal, detail: JsonObject): void {
    const reasoning = this.#openReasoning(detail);
    const format = reasoning.format === undefined ? {} : { format: reasoning.format };
    reasoning.isSealed = true;
    this.emit({ type: 'seal', item: reasoning.item, seal: { ...seal, ...format, givenBy: 'chat' } });
  }

  noteFormat(detail: JsonObject): void {
    const open = this.#open;
    if (open?.type === 'reasoning' && open.group.accepts(detail)) open.format ??= textAt(detail, 'format');
  }

  #openReasoning(detail: JsonObject): OpenReasoning {
    const open = this.#open;
    const reasoning =
      open?.type === 'reasoning' && open.group.accepts(detail) ? open : this.#beginReasoning(detail);
    reasoning.group.take(detail);
    reasoning.format ??= textAt(detail, 'format');
    return reasoning;
  }

  #beginReasoning(detail: JsonObject): OpenReasoning {
    const item = this.beginItem();
    const id = textAt(detail, 'id');
    this.emit({
      type: 'item-start',
      item,
      head: id === undefined ? { type: 'reasoning' } : { type: 'reasoning', id },
    });
    const reasoning: OpenReasoning = {
      type: 'reasoning',
      item,
      parts: noParts(),
      group: new DetailGroup(),
      format: undefined,
      isSealed: false,
    };
    this.#open = reasoning;
    return reasoning;
  }

  writeImage(value: JsonObject): void {
    const url = textAt(objectAt(value, 'image_url'), 'url') ?? textAt(value, 'image_url');
    if (url === undefined) return;
    const item = this.beginItem();
    this.emit({ type: 'item-start', item, head: { type: 'image' } });
    this.emit({ type: 'image-data', item, source: parseUrl(url) });
    this.emit({ type: 'item-end', item, status: 'completed' });
  }

  /** Audio is not modelled: its pieces are forwarded unchanged, and the whole is at the end of the item. */
  writeAudio(audio: JsonObject): void {
    if (this.#open?.type === 'audio') {
      addAudio(this.#open.value, audio);
      this.emit({ type: 'opaque', dialect: 'chat', value: { audio } });
      return;
    }
    const item = this.beginItem();
    this.emit({
      type: 'item-start',
      item,
      head: {
        type: 'opaque',
        item: { type: 'opaque', dialect: 'chat', value: { audio }, role: 'assistant' },
      },
    });
    this.#open = { type: 'audio', item, value: { ...audio } };
  }

  /**
   * The part to write to; another kind, or another index in the details, begins another part. Thoughts without an
   * index continue the current part, and indexed ones continue from there.
   */
  #partFor(owner: OpenMessage | OpenReasoning, kind: PartKind, index?: number): number {
    const { current, counts } = owner.parts;
    if (current?.kind === kind && (current.index ?? index) === (index ?? current.index)) {
      current.index ??= index;
      return current.part;
    }
    this.#closePart();
    if (kind === 'text') this.#textStart = this.#textLength;
    const part = counts[kind === 'summary' ? 'summary' : 'main']++;
    owner.parts.current = { kind, part, index };
    this.emit({ type: 'part-start', item: owner.item, part, kind });
    return part;
  }

  // --- Closing ------------------------------------------------------------------------------------------------------

  #closePart(): void {
    const open = this.#open;
    if (open === undefined || open.type === 'audio' || open.parts.current === undefined) return;
    const { part, kind } = open.parts.current;
    this.emit({ type: 'part-end', item: open.item, part, kind });
    open.parts.current = undefined;
  }

  close(status: ItemStatus): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#closePart();
    this.#open = undefined;
    if (open.type === 'reasoning' && !open.isSealed && open.format !== undefined) {
      this.emit({ type: 'seal', item: open.item, seal: { format: open.format, givenBy: 'chat' } });
    }
    const value = open.type === 'audio' ? { value: { audio: open.value } } : {};
    this.emit({ type: 'item-end', item: open.item, status, ...value });
  }
}

function noParts(): Parts {
  return { current: undefined, counts: { main: 0, summary: 0 } };
}

/** Joins members that arrive in pieces; replaces others. */
function addAudio(audio: JsonObject, next: JsonObject): void {
  const joined = AUDIO_PIECES.map((member): [string, string] => [
    member,
    (textAt(audio, member) ?? '') + (textAt(next, member) ?? ''),
  ]);
  layOver(audio, next);
  for (const [member, text] of joined) if (text !== '') audio[member] = text;
}

const AUDIO_PIECES = ['data', 'transcript'];

// --- Thoughts that come twice ---------------------------------------------------------------------------------------

/** The two members in which chat upstreams send thoughts; many use both. */
export type ThoughtSource = 'plain' | 'details';

/**
 * Finds new text in thoughts that come twice, as plain text and as details: in one chunk, or one after the other, in
 * pieces of any size.
 */
export class SentThoughts {
  /** The source that is ahead, and its text that the other has not repeated yet. */
  #source: ThoughtSource | undefined;
  #ahead = new GrowingText();

  /** True if both sources have sent the same text. */
  get isInStep(): boolean {
    return this.#source === undefined;
  }

  /** The part of a piece that the other source has not sent yet. */
  newsIn(piece: string, source: ThoughtSource): string {
    if (source === this.#source) {
      this.#ahead.add(piece);
      return piece;
    }
    const ahead = this.#ahead.toString();
    if (ahead.startsWith(piece)) {
      this.#set(this.#source, ahead.slice(piece.length));
      return '';
    }
    const news = piece.startsWith(ahead) ? piece.slice(ahead.length) : piece;
    this.#set(source, news);
    return news;
  }

  #set(source: ThoughtSource | undefined, ahead: string): void {
    this.#source = ahead === '' ? undefined : source;
    this.#ahead = new GrowingText();
    this.#ahead.add(ahead);
  }
}
