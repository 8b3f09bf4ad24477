import type { Event, ItemHead, Seal } from '../../../ir/events.ts';
import type { Annotation, Ext, ToolKind } from '../../../ir/items.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { textAt } from '../../../kit/json/members.ts';
import type { DecodeContext } from '../../dialect.ts';
import { idSeedOf } from '../answers/made-ids.ts';
import { freeTextOf, type ToolIdentity, toolIdentities } from '../tools/tool-names.ts';

export type BlockKind = 'text' | 'thoughts' | 'call' | 'image' | 'opaque';

export interface OpenBlock {
  readonly kind: BlockKind;
  readonly item: number;
  delta(delta: JsonObject): Event[];
  /** The block has ended: returns all events but the end of the item. */
  stop(): Event[];
  /** The final form of an opaque item, if it changed. */
  finalValue?(): JsonObject | undefined;
  isStopped: boolean;
}

/** Members with the pieces of blocks in the deltas of a dialect; text is in `text` in all of them. */
export interface BlockForm {
  /** Prefix of the ids of calls without one. */
  readonly callIdPrefix: string;
  citationIn(delta: JsonObject): Annotation | undefined;
  thoughtIn(delta: JsonObject): string | undefined;
  signatureIn(delta: JsonObject): string | undefined;
  /** Hidden thoughts of the model, in base64; absent = they are a block of their own. */
  redactedIn?(delta: JsonObject): string | undefined;
  /** The seals of a block of thoughts, from all pieces of its signature and of its redacted thoughts. */
  sealsOf(signature: string, redacted: readonly string[]): Seal[];
  /** A piece of a call's input, which is JSON text. */
  inputIn(delta: JsonObject): string | undefined;
}

export interface BegunCall {
  readonly name: string;
  readonly id: string | undefined;
  /** The whole input as JSON text, used if no pieces of it follow. */
  readonly input: string;
  readonly ext?: Ext;
}

/**
 * Makes items from content blocks. Adjacent text blocks are the parts of one message. An item ends when the next one
 * begins or the answer ends, because only then it is known whether it was cut off.
 */
export class BlockItems {
  readonly #form: BlockForm;
  readonly #identityOf: (flatName: string) => ToolIdentity;
  /** Keeps ids of calls without one apart from those of earlier turns. */
  readonly #idSeed: string;
  readonly #byIndex = new Map<number, OpenBlock>();
  /** Blocks of open items, in order; of the message, its last block. */
  readonly #open = new Set<OpenBlock>();
  /** Blocks among `#open` that end when a call begins: all but the calls that are still being written. */
  #idle: OpenBlock[] = [];
  #items = 0;
  #hasCalls = false;
  #message: { readonly item: number; parts: number } | undefined;

  constructor(context: DecodeContext, form: BlockForm) {
    this.#form = form;
    this.#identityOf = toolIdentities(context.request);
    this.#idSeed = idSeedOf(context);
  }

  /** Number of indexes at which a block has begun. */
  get count(): number {
    return this.#byIndex.size;
  }

  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  /** The block that began last at an index of the upstream's. */
  at(index: number): OpenBlock | undefined {
    return this.#byIndex.get(index);
  }

  // --- Beginnings ---------------------------------------------------------------------------------------------------

  beginText(index: number): Event[] {
    const events = this.#makeRoomFor('text');
    if (this.#message === undefined) {
      this.#message = { item: this.#items++, parts: 0 };
      events.push({ type: 'item-start', item: this.#message.item, head: { type: 'message' } });
    }
    const { item } = this.#message;
    const part = this.#message.parts++;
    events.push({ type: 'part-start', item, part, kind: 'text' });
    this.#add(index, new TextBlock(item, part, this.#form));
    return events;
  }

  beginThoughts(index: number): Event[] {
    return this.begin(index, 'thoughts', { type: 'reasoning' }, (item) => new ThoughtBlock(item, this.#form));
  }

  beginCall(index: number, { name, id, input, ext }: BegunCall): Event[] {
    this.#hasCalls = true;
    const identity = this.#identityOf(name);
    const callId = id ?? `${this.#form.callIdPrefix}_${this.#idSeed}_${this.#items}`;
    const head: ItemHead = { type: 'tool-call', ...identity, callId, ...(ext !== undefined && { ext }) };
    return this.begin(index, 'call', head, (item) => new CallBlock(item, identity.kind, input, this.#form));
  }

  /** A block that is complete when it begins; `contents` returns its events, given the position of its item. */
  beginWhole(
    index: number,
    kind: BlockKind,
    head: ItemHead,
    contents: (item: number) => readonly Event[],
  ): Event[] {
    const events = this.begin(index, kind, head, (item) => new WholeBlock(kind, item));
    events.push(...contents(this.#items - 1));
    return events;
  }

  /** A block that is an item of its own. */
  begin(index: number, kind: BlockKind, head: ItemHead, open: (item: number) => OpenBlock): Event[] {
    const events = this.#makeRoomFor(kind);
    const item = this.#items++;
    events.push({ type: 'item-start', item, head });
    this.#add(index, open(item));
    return events;
  }

  #add(index: number, block: OpenBlock): void {
    this.#byIndex.set(index, block);
    this.#open.add(block);
    if (block.kind !== 'call') this.#idle.push(block);
  }

  /** Text continues an open message, and calls may be written in parallel; everything else ends the open items. */
  #makeRoomFor(kind: BlockKind): Event[] {
    if (kind === 'text' && this.#message !== undefined) {
      const events = [...this.#open].flatMap(stopped);
      this.#forget();
      return events;
    }
    if (kind !== 'call' || this.#message !== undefined) return this.close(false);
    const ended = this.#idle;
    this.#idle = [];
    return ended.flatMap((block) => {
      this.#open.delete(block);
      return [...stopped(block), endOf(block, false)];
    });
  }

  // --- Ends ---------------------------------------------------------------------------------------------------------

  /** A block has ended. Its item stays open. */
  stop(index: number): Event[] {
    const block = this.#byIndex.get(index);
    if (block === undefined || block.isStopped) return [];
    if (block.kind === 'call') this.#idle.push(block);
    return stopped(block);
  }

  /** Ends all open items; `isCut`: the last one was cut off by a limit. */
  close(isCut: boolean): Event[] {
    const open = [...this.#open];
    const events = open.flatMap(stopped);
    for (const [position, block] of open.entries()) {
      events.push(endOf(block, isCut && position === open.length - 1));
    }
    this.#forget();
    this.#message = undefined;
    return events;
  }

  #forget(): void {
    this.#open.clear();
    this.#idle = [];
  }
}

function stopped(block: OpenBlock): Event[] {
  if (block.isStopped) return [];
  block.isStopped = true;
  return block.stop();
}

function endOf(block: OpenBlock, isCut: boolean): Event {
  const value = block.finalValue?.();
  return {
    type: 'item-end',
    item: block.item,
    status: isCut ? 'incomplete' : 'completed',
    ...(value !== undefined && { value }),
  };
}

// --- Kinds of blocks ------------------------------------------------------------------------------------------------

class TextBlock implements OpenBlock {
  readonly kind = 'text';
  isStopped = false;

  constructor(
    readonly item: number,
    private readonly part: number,
    private readonly form: BlockForm,
  ) {}

  delta(delta: JsonObject): Event[] {
    const { item, part } = this;
    const text = textAt(delta, 'text');
    if (text !== undefined) return [{ type: 'text-delta', item, part, kind: 'text', text }];
    const annotation = this.form.citationIn(delta);
    return annotation === undefined ? [] : [{ type: 'annotation', item, part, annotation }];
  }

  stop(): Event[] {
    return [{ type: 'part-end', item: this.item, part: this.part, kind: 'text' }];
  }
}

/** The text of thoughts, followed by their seals. */
class ThoughtBlock implements OpenBlock {
  readonly kind = 'thoughts';
  isStopped = false;
  #hasText = false;
  #signature = '';
  readonly #redacted: string[] = [];

  constructor(
    readonly item: number,
    private readonly form: BlockForm,
  ) {}

  delta(delta: JsonObject): Event[] {
    const { item, form } = this;
    this.#signature += form.signatureIn(delta) ?? '';
    const redacted = form.redactedIn?.(delta);
    if (redacted !== undefined) this.#redacted.push(redacted);
    const text = form.thoughtIn(delta);
    if (text === undefined) return [];
    const said: Event = { type: 'text-delta', item, part: 0, kind: 'thought', text };
    if (this.#hasText) return [said];
    this.#hasText = true;
    return [{ type: 'part-start', item, part: 0, kind: 'thought' }, said];
  }

  stop(): Event[] {
    const { item, form } = this;
    const events: Event[] = this.#hasText ? [{ type: 'part-end', item, part: 0, kind: 'thought' }] : [];
    for (const seal of form.sealsOf(this.#signature, this.#redacted)) {
      events.push({ type: 'seal', item, seal });
    }
    return events;
  }
}

class CallBlock implements OpenBlock {
  readonly kind = 'call';
  isStopped = false;
  #hasInput = false;
  /** Free-text calls: their text is inside the JSON, and known once that is complete. */
  #held = '';

  constructor(
    readonly item: number,
    private readonly toolKind: ToolKind,
    private readonly whole: string,
    private readonly form: BlockForm,
  ) {}

  delta(delta: JsonObject): Event[] {
    const input = this.form.inputIn(delta);
    if (input === undefined) return [];
    this.#hasInput = true;
    if (this.toolKind !== 'custom') return this.#delta(input);
    this.#held += input;
    return [];
  }

  stop(): Event[] {
    const rest = this.#hasInput ? '' : this.whole;
    if (this.toolKind === 'custom') return this.#delta(freeTextOf(this.#held + rest));
    return rest === '' ? [] : this.#delta(rest);
  }

  #delta(text: string): Event[] {
    return [{ type: 'tool-input-delta', item: this.item, text }];
  }
}

class WholeBlock implements OpenBlock {
  isStopped = false;

  constructor(
    readonly kind: BlockKind,
    readonly item: number,
  ) {}

  delta(): Event[] {
    return [];
  }

  stop(): Event[] {
    return [];
  }
}
