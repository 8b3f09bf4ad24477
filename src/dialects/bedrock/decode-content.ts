import type { Event, ItemHead } from '../../ir/events.ts';
import type { ToolKind } from '../../ir/items.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, stringAt, textAt } from '../../kit/json/members.ts';
import type { DecodeContext } from '../dialect.ts';
import { idSeedOf } from '../shared/answers/made-ids.ts';
import { freeTextOf, type ToolIdentity, toolIdentities } from '../shared/tools/tool-names.ts';
import { parseCitation } from './citations.ts';
import { sealOfRedacted, sealOfSignature } from './reasoning.ts';

/** One content block while it is being read. */
interface OpenBlock {
  readonly kind: BlockKind;
  /** Position of the item it belongs to. */
  readonly item: number;
  /** What a delta of this block means. */
  delta(delta: JsonObject): Event[];
  /** Nothing more of it comes: everything but the end of the item. */
  stop(): Event[];
  isStopped: boolean;
}

/** What a block turns out to be when its first piece is there. */
type BlockKind = 'text' | 'thoughts' | 'call' | 'image';

/**
 * Reads content blocks into items. Text blocks in a row are the parts of one message. The end of an item is told when
 * the next one begins or the message ends, because only then it is known whether it was cut off.
 */
export class BlockReader {
  readonly #identityOf: (flatName: string) => ToolIdentity;
  /** Ids for calls that came without one must not meet those of earlier turns. */
  readonly #idSeed: string;
  readonly #byIndex = new Map<number, OpenBlock>();
  /** Index of the block that began last. */
  #latest = 0;
  /** Blocks of items of which no end was told yet, in order; of the message, the block that was written last. */
  readonly #open = new Set<OpenBlock>();
  /** Those of them that end when a call begins: all but the calls that are still being written. */
  #idle: OpenBlock[] = [];
  #items = 0;
  #hasCalls = false;
  /** The message item that is still open, and how many parts it has. */
  #message: { readonly item: number; parts: number } | undefined;

  constructor(context: DecodeContext) {
    this.#identityOf = toolIdentities(context.request);
    this.#idSeed = idSeedOf(context);
  }

  /** True when the answer holds a call that can be run. */
  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  /** Only calls and images say beforehand that they begin. */
  start(value: JsonObject): Event[] {
    const start = objectAt(value, 'start');
    const kind = kindOf(start);
    if (start === undefined || (kind !== 'call' && kind !== 'image')) return [];
    const index = indexIn(value) ?? this.#byIndex.size;
    if (!isNameless(start)) return this.#begin(index, kind, start);
    // It cannot be run. Its input must not go to a call that began before.
    this.#latest = index;
    return this.stop({ contentBlockIndex: index });
  }

  /** Servers that reuse an index, or leave it out, mean a new block where the kind changes. */
  delta(value: JsonObject): Event[] {
    const delta = objectAt(value, 'delta');
    const kind = kindOf(delta);
    if (delta === undefined || kind === undefined) return [];
    const index = indexIn(value) ?? this.#latest;
    const known = this.#byIndex.get(index);
    if (known !== undefined && known.kind === kind && !known.isStopped) return known.delta(delta);
    // A call that never began has no name and cannot be run.
    if (kind === 'call') return [];
    const events = this.#begin(index, kind, {});
    return [...events, ...(this.#byIndex.get(index)?.delta(delta) ?? [])];
  }

  stop(value: JsonObject): Event[] {
    const block = this.#byIndex.get(indexIn(value) ?? this.#latest);
    if (block === undefined || block.isStopped) return [];
    if (block instanceof CallReader) this.#idle.push(block);
    return stopped(block);
  }

  /** A block of a whole body: as the events that would have brought it. */
  whole(block: JsonObject): Event[] {
    const kind = kindOf(block);
    if (kind === undefined || isNameless(block)) return [];
    const contentBlockIndex = this.#byIndex.size;
    const events = this.#begin(contentBlockIndex, kind, block);
    for (const delta of deltasIn(block)) events.push(...this.delta({ contentBlockIndex, delta }));
    events.push(...this.stop({ contentBlockIndex }));
    return events;
  }

  /** Ends whatever is open; `isCut`: the last item was cut off by a limit. */
  close(isCut: boolean): Event[] {
    const open = [...this.#open];
    const events = open.flatMap(stopped);
    for (const [position, { item }] of open.entries()) {
      events.push(endOf(item, isCut && position === open.length - 1));
    }
    this.#forget();
    this.#message = undefined;
    return events;
  }

  #begin(index: number, kind: BlockKind, start: JsonObject): Event[] {
    const events = this.#makeRoomFor(kind);
    const [block, first] = this.#read(kind, start);
    this.#byIndex.set(index, block);
    this.#latest = index;
    this.#open.add(block);
    if (!(block instanceof CallReader)) this.#idle.push(block);
    return [...events, ...first];
  }

  /** Text goes on in an open message, and calls may be written side by side; everything else stands alone. */
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
      return [...stopped(block), endOf(block.item, false)];
    });
  }

  #forget(): void {
    this.#open.clear();
    this.#idle = [];
  }

  #read(kind: BlockKind, start: JsonObject): [OpenBlock, Event[]] {
    switch (kind) {
      case 'text':
        return this.#text();
      case 'thoughts':
        return this.#item({ type: 'reasoning' }, (item) => new ThoughtReader(item));
      case 'call':
        return this.#call(objectAt(start, 'toolUse'));
      case 'image':
        return this.#item(
          { type: 'image' },
          (item) => new ImageReader(item, textAt(objectAt(start, 'image'), 'format')),
        );
    }
  }

  #item<T extends OpenBlock>(head: ItemHead, open: (item: number) => T): [T, Event[]] {
    const item = this.#items++;
    return [open(item), [{ type: 'item-start', item, head }]];
  }

  #text(): [OpenBlock, Event[]] {
    const events: Event[] = [];
    if (this.#message === undefined) {
      this.#message = { item: this.#items++, parts: 0 };
      events.push({ type: 'item-start', item: this.#message.item, head: { type: 'message' } });
    }
    const { item } = this.#message;
    const part = this.#message.parts++;
    events.push({ type: 'part-start', item, part, kind: 'text' });
    return [new TextReader(item, part), events];
  }

  #call(toolUse: JsonObject | undefined): [OpenBlock, Event[]] {
    this.#hasCalls = true;
    const identity = this.#identityOf(stringAt(toolUse, 'name') ?? '');
    const callId = textAt(toolUse, 'toolUseId') ?? `tooluse_${this.#idSeed}_${this.#items}`;
    const head: ItemHead = { type: 'tool-call', ...identity, callId };
    return this.#item(head, (item) => new CallReader(item, identity.kind, toolUse?.input));
  }
}

/** True for a call that does not say of what. */
function isNameless(start: JsonObject): boolean {
  const toolUse = objectAt(start, 'toolUse');
  return toolUse !== undefined && textAt(toolUse, 'name') === undefined;
}

function indexIn(value: JsonObject): number | undefined {
  return numberAt(value, 'contentBlockIndex');
}

/** What a block, a start or a delta is about; undefined for what we do not know. */
function kindOf(value: JsonObject | undefined): BlockKind | undefined {
  if (value === undefined) return undefined;
  if (textAt(value, 'text') !== undefined) return 'text';
  return KINDS.find(([member]) => objectAt(value, member) !== undefined)?.[1];
}

const KINDS: readonly (readonly [member: string, kind: BlockKind])[] = [
  ['citationsContent', 'text'],
  ['citation', 'text'],
  ['reasoningContent', 'thoughts'],
  ['toolUse', 'call'],
  ['image', 'image'],
];

/** A whole block as deltas; the input of a call is taken at its start. */
function deltasIn(block: JsonObject): JsonObject[] {
  const cited = objectAt(block, 'citationsContent');
  if (cited !== undefined) {
    return [
      ...objectsAt(cited, 'content'),
      ...objectsAt(cited, 'citations').map((citation) => ({ citation })),
    ];
  }
  const thoughts = objectAt(block, 'reasoningContent');
  const visible = objectAt(thoughts, 'reasoningText');
  return visible === undefined ? [block] : [{ reasoningContent: visible }];
}

function stopped(block: OpenBlock): Event[] {
  if (block.isStopped) return [];
  block.isStopped = true;
  return block.stop();
}

function endOf(item: number, isCut: boolean): Event {
  return { type: 'item-end', item, status: isCut ? 'incomplete' : 'completed' };
}

class TextReader implements OpenBlock {
  readonly kind = 'text';
  isStopped = false;

  constructor(
    readonly item: number,
    private readonly part: number,
  ) {}

  delta(delta: JsonObject): Event[] {
    const { item, part } = this;
    const text = textAt(delta, 'text');
    if (text !== undefined) return [{ type: 'text-delta', item, part, kind: 'text', text }];
    const annotation = parseCitation(delta.citation);
    return annotation === undefined ? [] : [{ type: 'annotation', item, part, annotation }];
  }

  stop(): Event[] {
    return [{ type: 'part-end', item: this.item, part: this.part, kind: 'text' }];
  }
}

class ThoughtReader implements OpenBlock {
  readonly kind = 'thoughts';
  isStopped = false;
  #hasText = false;
  #signature = '';
  readonly #redacted: string[] = [];

  constructor(readonly item: number) {}

  delta(delta: JsonObject): Event[] {
    const thoughts = objectAt(delta, 'reasoningContent');
    this.#signature += stringAt(thoughts, 'signature') ?? '';
    const redacted = textAt(thoughts, 'redactedContent');
    if (redacted !== undefined) this.#redacted.push(redacted);
    const text = textAt(thoughts, 'text');
    if (text === undefined) return [];
    const { item } = this;
    const begin: Event[] = this.#hasText ? [] : [{ type: 'part-start', item, part: 0, kind: 'thought' }];
    this.#hasText = true;
    return [...begin, { type: 'text-delta', item, part: 0, kind: 'thought', text }];
  }

  stop(): Event[] {
    const { item } = this;
    const events: Event[] = this.#hasText ? [{ type: 'part-end', item, part: 0, kind: 'thought' }] : [];
    if (this.#redacted.length > 0) {
      events.push({ type: 'seal', item, seal: sealOfRedacted(joinBase64(this.#redacted)) });
    }
    if (this.#signature !== '') events.push({ type: 'seal', item, seal: sealOfSignature(this.#signature) });
    return events;
  }
}

class CallReader implements OpenBlock {
  readonly kind = 'call';
  isStopped = false;
  #hasInput = false;
  /** Of free-text calls: their text is inside the JSON, and known when that is whole. */
  #held = '';

  constructor(
    readonly item: number,
    private readonly toolKind: ToolKind,
    /** Input that came whole with the start of the block. */
    private readonly whole: Json | undefined,
  ) {}

  delta(delta: JsonObject): Event[] {
    const input = textAt(objectAt(delta, 'toolUse'), 'input');
    if (input === undefined) return [];
    this.#hasInput = true;
    if (this.toolKind !== 'custom') return this.#delta(input);
    this.#held += input;
    return [];
  }

  stop(): Event[] {
    const rest = this.#hasInput ? '' : wholeInput(this.whole);
    if (this.toolKind === 'custom') return this.#delta(freeTextOf(this.#held + rest));
    return rest === '' ? [] : this.#delta(rest);
  }

  #delta(text: string): Event[] {
    return [{ type: 'tool-input-delta', item: this.item, text }];
  }
}

/** Input is an object, also where the upstream leaves it out or sends nothing. */
function wholeInput(input: Json | undefined): string {
  return input === undefined || input === null || input === '' ? '{}' : JSON.stringify(input);
}

class ImageReader implements OpenBlock {
  readonly kind = 'image';
  isStopped = false;
  readonly #bytes: string[] = [];

  constructor(
    readonly item: number,
    private format = 'png',
  ) {}

  delta(delta: JsonObject): Event[] {
    const image = objectAt(delta, 'image');
    this.format = textAt(image, 'format') ?? this.format;
    const bytes = textAt(objectAt(image, 'source'), 'bytes');
    if (bytes !== undefined) this.#bytes.push(bytes);
    return [];
  }

  stop(): Event[] {
    if (this.#bytes.length === 0) return [];
    const mediaType = /^[a-z0-9]{1,8}$/.test(this.format) ? `image/${this.format}` : 'image/png';
    const source = { kind: 'base64', mediaType, data: joinBase64(this.#bytes) } as const;
    return [{ type: 'image-data', item: this.item, source }];
  }
}

/** Pieces of bytes as one; a single piece stays as it was written. */
function joinBase64(pieces: readonly string[]): string {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64');
}
