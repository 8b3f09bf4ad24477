import type { Event, ItemHead } from '../../ir/events.ts';
import type { ToolKind } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject, readJson } from '../../kit/json/json.ts';
import type { DecodeContext } from '../dialect.ts';
import { idSeedOf } from '../shared/answers/made-ids.ts';
import { freeTextOf, type ToolIdentity, toolIdentities } from '../shared/tools/tool-names.ts';
import { parseCitation } from './citations.ts';
import { imageInBlock } from './media.ts';
import { NATIVE_FORMAT, sealOfSignature } from './reasoning.ts';
import type { WireBlock } from './wire.ts';

/** One content block while it is being read. */
interface OpenBlock {
  /** Position of the item it belongs to. */
  readonly item: number;
  /** What a delta of this block means. */
  delta(delta: JsonObject): Event[];
  /** Nothing more of it comes: everything but the end of the item. */
  stop(): Event[];
  /** The final form of an opaque item, where it changed. */
  finalValue?(): JsonObject | undefined;
  isStopped: boolean;
}

/**
 * Reads content blocks into items. Text blocks in a row are the parts of one message. The end of an item is told when
 * the next one begins or the message ends, because only then it is known whether it was cut off.
 */
export class BlockReader {
  readonly #identityOf: (flatName: string) => ToolIdentity;
  /** Ids for calls that came without one must not meet those of earlier turns. */
  readonly #idSeed: string;
  readonly #byIndex = new Map<number, OpenBlock>();
  /** Blocks of which no end was told yet, in order. */
  readonly #open = new Set<OpenBlock>();
  /** Those of them that end when a call begins: all but the calls that are still being written. */
  #idle: OpenBlock[] = [];
  #items = 0;
  /** The message item that is still open, and how many parts it has. */
  #message: { readonly item: number; parts: number } | undefined;

  constructor(context: DecodeContext) {
    this.#identityOf = toolIdentities(context.request);
    this.#idSeed = idSeedOf(context);
  }

  start(value: JsonObject): Event[] {
    const block = value.content_block;
    if (!isJsonObject(block) || typeof block.type !== 'string') return [];
    return this.#begin(this.#indexOf(value), block as WireBlock);
  }

  delta(value: JsonObject): Event[] {
    const delta = value.delta;
    if (!isJsonObject(delta)) return [];
    const index = this.#indexOf(value);
    const missed = this.#byIndex.has(index) ? undefined : MISSED_BLOCKS.get(delta.type);
    const begun = missed === undefined ? [] : this.#begin(index, missed);
    const block = this.#byIndex.get(index);
    return block === undefined || block.isStopped ? begun : [...begun, ...block.delta(delta)];
  }

  stop(value: JsonObject): Event[] {
    const block = this.#byIndex.get(this.#indexOf(value));
    if (block === undefined || block.isStopped) return [];
    if (block instanceof CallReader) this.#idle.push(block);
    return stopped(block);
  }

  /** Ends whatever is open; `isCut`: the last item was cut off by a limit. */
  close(isCut: boolean): Event[] {
    const events = this.#stopAll();
    const ends = [...this.#open].filter((block) => block.item !== this.#message?.item);
    ends.forEach((block, position) => {
      const isLast = this.#message === undefined && position === ends.length - 1;
      events.push(endOf(block, isCut && isLast));
    });
    this.#forget();
    if (this.#message !== undefined) {
      events.push({
        type: 'item-end',
        item: this.#message.item,
        status: isCut ? 'incomplete' : 'completed',
      });
      this.#message = undefined;
    }
    return events;
  }

  #indexOf(value: JsonObject): number {
    return typeof value.index === 'number' ? value.index : this.#byIndex.size;
  }

  #begin(index: number, block: WireBlock): Event[] {
    const events = this.#makeRoomFor(block.type);
    const [begun, first] = this.#read(block);
    this.#byIndex.set(index, begun);
    this.#open.add(begun);
    if (!(begun instanceof CallReader)) this.#idle.push(begun);
    return [...events, ...first];
  }

  /** Text goes on in an open message, and calls may be written side by side; everything else stands alone. */
  #makeRoomFor(type: string): Event[] {
    if (type === 'text' && this.#message !== undefined) {
      const events = this.#stopAll();
      this.#forget();
      return events;
    }
    if (type !== 'tool_use' || this.#message !== undefined) return this.close(false);
    const ended = this.#idle;
    this.#idle = [];
    return ended.flatMap((block) => {
      this.#open.delete(block);
      return [...stopped(block), endOf(block, false)];
    });
  }

  #stopAll(): Event[] {
    return [...this.#open].flatMap(stopped);
  }

  #forget(): void {
    this.#open.clear();
    this.#idle = [];
  }

  #read(block: WireBlock): [OpenBlock, Event[]] {
    switch (block.type) {
      case 'text':
        return this.#text(block);
      case 'thinking':
        return this.#item({ type: 'reasoning' }, (item) => new ThoughtReader(item), thoughtIn(block));
      case 'redacted_thinking':
        return this.#redacted(block);
      case 'tool_use':
        return this.#call(block);
      case 'image':
        return this.#image(block);
      default:
        return this.#item(
          { type: 'opaque', item: { type: 'opaque', dialect: 'messages', value: block, role: 'assistant' } },
          (item) => new OpaqueReader(item, block),
        );
    }
  }

  #item<T extends OpenBlock>(
    head: ItemHead,
    open: (item: number) => T,
    deltas: readonly JsonObject[] = [],
  ): [T, Event[]] {
    const item = this.#items++;
    const block = open(item);
    return [block, [{ type: 'item-start', item, head }, ...deltas.flatMap((delta) => block.delta(delta))]];
  }

  #text(block: WireBlock): [OpenBlock, Event[]] {
    const events: Event[] = [];
    if (this.#message === undefined) {
      this.#message = { item: this.#items++, parts: 0 };
      events.push({ type: 'item-start', item: this.#message.item, head: { type: 'message' } });
    }
    const { item } = this.#message;
    const part = this.#message.parts++;
    const reader = new TextReader(item, part);
    events.push({ type: 'part-start', item, part, kind: 'text' });
    if (typeof block.text === 'string') events.push(...reader.delta({ text: block.text }));
    for (const citation of Array.isArray(block.citations) ? block.citations : []) {
      events.push(...reader.delta({ citation }));
    }
    return [reader, events];
  }

  #redacted(block: WireBlock): [OpenBlock, Event[]] {
    const [reader, events] = this.#item({ type: 'reasoning' }, (item) => new StillReader(item));
    const data = typeof block.data === 'string' ? block.data : '';
    events.push({ type: 'seal', item: reader.item, seal: { encrypted: data, format: NATIVE_FORMAT } });
    return [reader, events];
  }

  #call(block: WireBlock): [OpenBlock, Event[]] {
    const identity = this.#identityOf(typeof block.name === 'string' ? block.name : '');
    const callId =
      typeof block.id === 'string' && block.id !== '' ? block.id : `toolu_${this.#idSeed}_${this.#items}`;
    const caller = isJsonObject(block.caller) && block.caller.type !== 'direct' ? block.caller : undefined;
    const head: ItemHead = {
      type: 'tool-call',
      ...identity,
      callId,
      ...(caller !== undefined && { ext: { messages: { caller } } }),
    };
    return this.#item(head, (item) => new CallReader(item, identity.kind, block.input));
  }

  #image(block: WireBlock): [OpenBlock, Event[]] {
    const [reader, events] = this.#item({ type: 'image' }, (item) => new StillReader(item));
    const source = imageInBlock(block);
    if (source !== undefined) events.push({ type: 'image-data', item: reader.item, source });
    return [reader, events];
  }
}

/** What a delta for a block that never began must have been about. */
const MISSED_BLOCKS: ReadonlyMap<unknown, WireBlock> = new Map([
  ['text_delta', { type: 'text' }],
  ['thinking_delta', { type: 'thinking' }],
]);

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

function thoughtIn(block: WireBlock): JsonObject[] {
  return [
    { thinking: block.thinking },
    ...(typeof block.signature === 'string' ? [{ signature: block.signature }] : []),
  ];
}

class TextReader implements OpenBlock {
  isStopped = false;

  constructor(
    readonly item: number,
    private readonly part: number,
  ) {}

  delta(delta: JsonObject): Event[] {
    const { item, part } = this;
    if (typeof delta.text === 'string' && delta.text !== '') {
      return [{ type: 'text-delta', item, part, kind: 'text', text: delta.text }];
    }
    const annotation = parseCitation(delta.citation);
    return annotation === undefined ? [] : [{ type: 'annotation', item, part, annotation }];
  }

  stop(): Event[] {
    return [{ type: 'part-end', item: this.item, part: this.part, kind: 'text' }];
  }
}

class ThoughtReader implements OpenBlock {
  isStopped = false;
  #hasText = false;
  #signature = '';

  constructor(readonly item: number) {}

  delta(delta: JsonObject): Event[] {
    if (typeof delta.signature === 'string') this.#signature += delta.signature;
    if (typeof delta.thinking !== 'string' || delta.thinking === '') return [];
    const { item } = this;
    const begin: Event[] = this.#hasText ? [] : [{ type: 'part-start', item, part: 0, kind: 'thought' }];
    this.#hasText = true;
    return [...begin, { type: 'text-delta', item, part: 0, kind: 'thought', text: delta.thinking }];
  }

  stop(): Event[] {
    const { item } = this;
    const seal = sealOfSignature(this.#signature);
    return [
      ...(this.#hasText ? [{ type: 'part-end', item, part: 0, kind: 'thought' } as const] : []),
      ...(seal === undefined ? [] : [{ type: 'seal', item, seal } as const]),
    ];
  }
}

class CallReader implements OpenBlock {
  isStopped = false;
  #hasInput = false;
  /** Of free-text calls: their text is inside the JSON, and known when that is whole. */
  #held = '';

  constructor(
    readonly item: number,
    private readonly kind: ToolKind,
    /** Input that came whole with the start of the block. */
    private readonly whole: Json | undefined,
  ) {}

  delta(delta: JsonObject): Event[] {
    if (typeof delta.partial_json !== 'string' || delta.partial_json === '') return [];
    this.#hasInput = true;
    if (this.kind !== 'custom') return this.#delta(delta.partial_json);
    this.#held += delta.partial_json;
    return [];
  }

  stop(): Event[] {
    const rest = this.#hasInput ? '' : JSON.stringify(this.whole ?? {});
    if (this.kind === 'custom') return this.#delta(freeTextOf(this.#held + rest));
    return rest === '' ? [] : this.#delta(rest);
  }

  #delta(text: string): Event[] {
    return [{ type: 'tool-input-delta', item: this.item, text }];
  }
}

/** A block that is complete when it begins. */
class StillReader implements OpenBlock {
  isStopped = false;

  constructor(readonly item: number) {}

  delta(): Event[] {
    return [];
  }

  stop(): Event[] {
    return [];
  }
}

/** A block that we do not model; its input or content may still be streamed. */
class OpaqueReader implements OpenBlock {
  isStopped = false;
  #input = '';
  #content: string | undefined;

  constructor(
    readonly item: number,
    private readonly block: WireBlock,
  ) {}

  delta(delta: JsonObject): Event[] {
    if (typeof delta.partial_json === 'string') this.#input += delta.partial_json;
    if (typeof delta.content === 'string') this.#content = (this.#content ?? '') + delta.content;
    return [];
  }

  stop(): Event[] {
    return [];
  }

  finalValue(): JsonObject | undefined {
    const input = this.#input === '' ? undefined : readJson(this.#input);
    if (input?.ok === true) return { ...this.block, input: input.value };
    return this.#content === undefined ? undefined : { ...this.block, content: this.#content };
  }
}
