import type { Event, ItemHead, PartKind } from '../../ir/events.ts';
import type { Item, ItemStatus, Logprobs } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, numberAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { DecodeContext } from '../dialect.ts';
import { idSeedOf } from '../shared/answers/made-ids.ts';
import { customToolNames } from '../shared/tools/custom-tools.ts';
import { NO_ARGUMENTS } from '../shared/tools/tool-names.ts';
import { readAnnotation } from './citations.ts';
import { imageSourceOf, parseItem, sealOf, statusAt } from './parse-content.ts';
import { CHANNEL_BY_PART, INPUT_CHANNELS, isExclusive } from './wire.ts';

// --- Open items -----------------------------------------------------------------------------------------------------

export interface ItemSlot {
  item: number;
  head: ItemHead;
  parts: PartSlots;
  input: string;
  open: boolean;
}

interface PartSlot {
  /** Index in the representation, and the upstream's index. */
  readonly part: number;
  readonly index: number;
  readonly kind: PartKind;
  text: string;
  annotations: number;
  open: boolean;
}

/** The parts of one item. Summaries are counted separately. */
class PartSlots {
  /** In the order of their starts. */
  readonly all: PartSlot[] = [];
  readonly #summaries = new Map<number, PartSlot>();
  readonly #others = new Map<number, PartSlot>();
  #summaryCount = 0;

  /** The last part at an index of the upstream's. */
  last(kind: PartKind, index: number): PartSlot | undefined {
    return this.#groupOf(kind).get(index);
  }

  begin(kind: PartKind, index: number): PartSlot {
    const part = kind === 'summary' ? this.#summaryCount++ : this.all.length - this.#summaryCount;
    const slot: PartSlot = { part, index, kind, text: '', annotations: 0, open: true };
    this.all.push(slot);
    this.#groupOf(kind).set(index, slot);
    return slot;
  }

  #groupOf(kind: PartKind): Map<number, PartSlot> {
    return kind === 'summary' ? this.#summaries : this.#others;
  }
}

// --- Items ----------------------------------------------------------------------------------------------------------

/**
 * Turns an upstream's output into events in the right order: an item starts before its parts, a part before its text,
 * and everything that was opened is closed. Missing pieces are filled in from the whole items and texts that the
 * upstream repeats later.
 */
export class OutputReader {
  readonly #emit: (event: Event) => void;
  /** True if a message or reasoning item closes when the next one starts. */
  readonly #exclusive: boolean;
  readonly #slots: ItemSlot[] = [];
  readonly #byIndex = new Map<number, ItemSlot>();
  readonly #byId = new Map<string, ItemSlot>();
  /** The last message or reasoning item: no two of those are open at once. */
  #alone: ItemSlot | undefined;
  #items = 0;
  #upstreamId: string;

  /** Custom tools of the request; undefined = every call is one for the caller. */
  readonly #customTools: ReadonlySet<string> | undefined;

  constructor(emit: (event: Event) => void, context: DecodeContext) {
    this.#upstreamId = idSeedOf(context);
    this.#emit = emit;
    this.#exclusive = !context.relay;
    this.#customTools =
      context.quirks?.showsOwnCallsAsCustom === true ? customToolNames(context.request.tools) : undefined;
  }

  /** The upstream's id of the answer: the seed of call ids that we make. */
  set upstreamId(id: string) {
    this.#upstreamId = id;
  }

  get isEmpty(): boolean {
    return this.#slots.length === 0;
  }

  get hasCalls(): boolean {
    return this.#slots.some((slot) => slot.head.type === 'tool-call');
  }

  get hasRefusal(): boolean {
    return this.#slots.some((slot) => slot.parts.all.some((part) => part.kind === 'refusal'));
  }

  /** The item of an event: by position first, because some upstreams change ids on the way. */
  find(value: JsonObject): ItemSlot | undefined {
    const index = numberAt(value, 'output_index');
    if (index !== undefined) return this.#byIndex.get(index);
    const id = stringAt(value, 'item_id');
    return id === undefined ? this.#slots.at(-1) : this.#byId.get(id);
  }

  /** The streamed item for an item of a whole answer: by position, else by id. */
  findWhole(item: JsonObject, index: number): ItemSlot | undefined {
    return this.#byIndex.get(index) ?? this.#byId.get(stringAt(item, 'id') ?? '');
  }

  /** Starts an item; undefined for a call without a name so far. */
  begin(item: JsonObject, index: number | undefined): ItemSlot | undefined {
    const head = this.#headOf(item);
    if (head.type === 'tool-call' && head.name === '') return undefined;
    const slot: ItemSlot = { item: 0, head, parts: new PartSlots(), input: '', open: false };
    this.#slots.push(slot);
    if (index !== undefined) this.#byIndex.set(index, slot);
    if ('id' in head && head.id !== undefined) this.#byId.set(head.id, slot);
    this.#open(slot);
    return slot;
  }

  #open(slot: ItemSlot): void {
    if (this.#exclusive && this.#alone !== undefined) this.end(this.#alone, 'completed');
    if (isExclusive(slot.head.type)) this.#alone = slot;
    slot.item = this.#items++;
    slot.open = true;
    this.#emit({ type: 'item-start', item: slot.item, head: slot.head });
  }

  /** The part of an item; starts it if it is not open. */
  part(slot: ItemSlot, kind: PartKind, index: number): PartSlot {
    const known = slot.parts.last(kind, index);
    if (known?.open) return known;
    const part = slot.parts.begin(kind, index);
    this.#emit({ type: 'part-start', item: slot.item, part: part.part, kind });
    return part;
  }

  /** Adds a piece of text. An item that was closed too early continues as a new one, so that no text is lost. */
  text(slot: ItemSlot, kind: PartKind, index: number, text: string, logprobs?: Logprobs): void {
    if (!slot.open) this.#reopen(slot);
    const part = this.part(slot, kind, index);
    part.text += text;
    this.#emit(compact({ type: 'text-delta', item: slot.item, part: part.part, kind, text, logprobs }));
  }

  #reopen(slot: ItemSlot): void {
    slot.head = slot.head.type === 'opaque' ? slot.head : compact({ ...slot.head, id: undefined });
    slot.parts = new PartSlots();
    slot.input = '';
    this.#open(slot);
  }

  /** The whole text of a part: adds its missing rest. */
  wholeText(slot: ItemSlot, kind: PartKind, index: number, text: string, logprobs?: Logprobs): void {
    if (!slot.open) return;
    const part = this.part(slot, kind, index);
    const rest = text.startsWith(part.text) ? text.slice(part.text.length) : '';
    if (rest !== '') this.text(slot, kind, index, rest, part.text === '' ? logprobs : undefined);
  }

  annotation(slot: ItemSlot, index: number, annotation: JsonObject): void {
    if (!slot.open) return;
    const part = this.part(slot, 'text', index);
    part.annotations++;
    this.#emit({
      type: 'annotation',
      item: slot.item,
      part: part.part,
      annotation: readAnnotation(annotation),
    });
  }

  /** A whole part: adds its missing rest, then closes it. */
  wholePart(slot: ItemSlot, value: JsonObject, index: number): void {
    const channel = CHANNEL_BY_PART.get(stringAt(value, 'type') ?? '');
    if (!slot.open || channel === undefined) return;
    const { kind, partField } = channel;
    if (slot.parts.last(kind, index)?.open === false) return;
    const logprobs = objectsAt(value, 'logprobs');
    const text = stringAt(value, partField) ?? '';
    this.wholeText(slot, kind, index, text, logprobs.length > 0 ? logprobs : undefined);
    const part = this.part(slot, kind, index);
    if (kind === 'text') {
      for (const annotation of objectsAt(value, 'annotations').slice(part.annotations)) {
        this.annotation(slot, index, annotation);
      }
    }
    this.#closePart(slot, part);
  }

  #closePart(slot: ItemSlot, part: PartSlot): void {
    if (!part.open) return;
    part.open = false;
    this.#emit({ type: 'part-end', item: slot.item, part: part.part, kind: part.kind });
  }

  input(slot: ItemSlot, text: string): void {
    if (!slot.open || text === '') return;
    slot.input += text;
    this.#emit({ type: 'tool-input-delta', item: slot.item, text });
  }

  /** The whole input of a call: adds its missing rest. */
  wholeInput(slot: ItemSlot, text: string): void {
    if (text.startsWith(slot.input)) this.input(slot, text.slice(slot.input.length));
  }

  /** The input of a call has ended: a function that was called without arguments gets an empty object. */
  endInput(slot: ItemSlot): void {
    const isFunction = slot.head.type === 'tool-call' && slot.head.kind === 'function';
    if (isFunction && slot.input === '') this.input(slot, NO_ARGUMENTS);
  }

  /** A whole item: adds its missing rest, then closes it. */
  whole(slot: ItemSlot, value: JsonObject): void {
    if (!slot.open) return;
    const status = statusAt(value);
    switch (slot.head.type) {
      case 'message':
      case 'reasoning':
        for (const [index, part] of objectsAt(value, 'summary').entries()) this.wholePart(slot, part, index);
        for (const [index, part] of objectsAt(value, 'content').entries()) this.wholePart(slot, part, index);
        break;
      case 'tool-call':
        this.wholeInput(slot, stringAt(value, INPUT_CHANNELS[slot.head.kind].field) ?? '');
        break;
      case 'image': {
        const source = imageSourceOf(value);
        if (source !== undefined) this.#emit({ type: 'image-data', item: slot.item, source });
        break;
      }
      case 'opaque':
        break;
    }
    this.end(slot, status === undefined || status === 'in_progress' ? 'completed' : status, value);
  }

  /** Closes an item and its open parts. */
  end(slot: ItemSlot, status: ItemStatus, value?: JsonObject): void {
    if (!slot.open) return;
    for (const part of slot.parts.all) this.#closePart(slot, part);
    if (value !== undefined) this.#seal(slot, value);
    if (status === 'completed') this.endInput(slot);
    slot.open = false;
    const end = { type: 'item-end' as const, item: slot.item, status };
    if (value === undefined) this.#emit(end);
    else if (slot.head.type === 'opaque') this.#emit({ ...end, value });
    else this.#emit(compact({ ...end, ext: extOfItem(parseItem(value)) }));
  }

  /** Closes everything; the last open item gets the status, the others are completed. */
  endAll(status: ItemStatus): void {
    const open = this.#slots.filter((slot) => slot.open);
    for (const slot of open) this.end(slot, slot === open.at(-1) ? status : 'completed');
  }

  #seal(slot: ItemSlot, value: JsonObject): void {
    if (slot.head.type === 'reasoning') {
      const { id: _id, ...seal } = sealOf(value);
      if (seal.encrypted !== undefined || seal.signature !== undefined) {
        this.#emit({ type: 'seal', item: slot.item, seal });
      }
    } else if (slot.head.type === 'tool-call') {
      const signature = stringAt(value, 'signature');
      if (signature !== undefined) this.#emit({ type: 'seal', item: slot.item, seal: { signature } });
    }
  }

  #headOf(value: JsonObject): ItemHead {
    const id = stringAt(value, 'id');
    switch (value.type) {
      case 'message':
        return compact({ type: 'message', id, phase: stringAt(value, 'phase') });
      case 'reasoning':
        return compact({ type: 'reasoning', id });
      case INPUT_CHANNELS.function.type:
      case INPUT_CHANNELS.custom.type:
        if (this.#isOwnCall(value)) break;
        return compact({
          type: 'tool-call',
          kind: value.type === INPUT_CHANNELS.custom.type ? 'custom' : 'function',
          callId: stringAt(value, 'call_id') ?? id ?? `call_${this.#upstreamId}_${this.#items}`,
          name: stringAt(value, 'name') ?? '',
          namespace: stringAt(value, 'namespace'),
          id,
        });
      case 'image_generation_call':
        return compact({ type: 'image', id });
    }
    return { type: 'opaque', item: { type: 'opaque', dialect: 'responses', value } };
  }

  #isOwnCall({ type, name }: JsonObject): boolean {
    if (this.#customTools === undefined || type !== INPUT_CHANNELS.custom.type) return false;
    return typeof name === 'string' && name !== '' && !this.#customTools.has(name);
  }
}

function extOfItem(item: Item) {
  return 'ext' in item ? item.ext : undefined;
}
