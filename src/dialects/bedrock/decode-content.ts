import type { Event } from '../../ir/events.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, stringAt, textAt } from '../../kit/json/members.ts';
import type { DecodeContext } from '../dialect.ts';
import { type BlockForm, BlockItems, type BlockKind, type OpenBlock } from '../shared/blocks/block-items.ts';
import { readAnnotation } from './citations.ts';
import { sealOfRedacted, sealOfSignature } from './reasoning.ts';

// --- Items ----------------------------------------------------------------------------------------------------------

const FORM: BlockForm = {
  callIdPrefix: 'tooluse',
  citationIn: (delta) => readAnnotation(delta.citation),
  thoughtIn: (delta) => textAt(objectAt(delta, 'reasoningContent'), 'text'),
  signatureIn: (delta) => stringAt(objectAt(delta, 'reasoningContent'), 'signature'),
  redactedIn: (delta) => textAt(objectAt(delta, 'reasoningContent'), 'redactedContent'),
  sealsOf: (signature, redacted) => [
    ...(redacted.length > 0 ? [sealOfRedacted(joinBase64(redacted))] : []),
    ...(signature === '' ? [] : [sealOfSignature(signature)]),
  ],
  inputIn: (delta) => textAt(objectAt(delta, 'toolUse'), 'input'),
};

export class BlockReader {
  readonly #blocks: BlockItems;
  readonly #numbers: ExactNumbers | undefined;
  /** Index of the block that began last. */
  #latest = 0;

  constructor(context: DecodeContext) {
    this.#blocks = new BlockItems(context, FORM);
    this.#numbers = context.request.exactNumbers;
  }

  /** True if the answer has a call that can be run. */
  get hasCalls(): boolean {
    return this.#blocks.hasCalls;
  }

  /** Decodes the start of a block. Only calls and images have one. */
  start(value: JsonObject): Event[] {
    const start = objectAt(value, 'start');
    const kind = kindOf(start);
    if (start === undefined || (kind !== 'call' && kind !== 'image')) return [];
    const index = indexIn(value) ?? this.#blocks.count;
    if (!isNameless(start)) return this.#begin(index, kind, start);
    // A call without a name cannot be run. Noting its index keeps its input from being added to an earlier call.
    this.#latest = index;
    return this.#blocks.stop(index);
  }

  /** Decodes a delta. A delta of another kind begins a new block: some servers reuse an index or leave it out. */
  delta(value: JsonObject): Event[] {
    const delta = objectAt(value, 'delta');
    const kind = kindOf(delta);
    if (delta === undefined || kind === undefined) return [];
    const index = indexIn(value) ?? this.#latest;
    const known = this.#blocks.at(index);
    if (known !== undefined && known.kind === kind && !known.isStopped) return known.delta(delta);
    // A call without a start has no name and cannot be run.
    if (kind === 'call') return [];
    const events = this.#begin(index, kind, {});
    return [...events, ...(this.#blocks.at(index)?.delta(delta) ?? [])];
  }

  stop(value: JsonObject): Event[] {
    return this.#blocks.stop(indexIn(value) ?? this.#latest);
  }

  whole(block: JsonObject): Event[] {
    const kind = kindOf(block);
    if (kind === undefined || isNameless(block)) return [];
    const contentBlockIndex = this.#blocks.count;
    const events = this.#begin(contentBlockIndex, kind, block);
    for (const delta of deltasIn(block)) events.push(...this.delta({ contentBlockIndex, delta }));
    events.push(...this.stop({ contentBlockIndex }));
    return events;
  }

  /** Ends all open items; `isCut`: the last one was cut off by a limit. */
  close(isCut: boolean): Event[] {
    return this.#blocks.close(isCut);
  }

  #begin(index: number, kind: WireKind, start: JsonObject): Event[] {
    this.#latest = index;
    switch (kind) {
      case 'text':
        return this.#blocks.beginText(index);
      case 'thoughts':
        return this.#blocks.beginThoughts(index);
      case 'call':
        return this.#call(index, objectAt(start, 'toolUse'));
      case 'image': {
        const format = textAt(objectAt(start, 'image'), 'format');
        return this.#blocks.begin(index, kind, { type: 'image' }, (item) => new ImageBlock(item, format));
      }
    }
  }

  #call(index: number, toolUse: JsonObject | undefined): Event[] {
    return this.#blocks.beginCall(index, {
      name: stringAt(toolUse, 'name') ?? '',
      id: textAt(toolUse, 'toolUseId'),
      input: wholeInput(toolUse?.input, this.#numbers),
    });
  }
}

// --- Kinds of blocks ------------------------------------------------------------------------------------------------

/** Kinds of blocks, known from the first piece. */
type WireKind = Exclude<BlockKind, 'opaque'>;

/** True for a call without a name. */
function isNameless(start: JsonObject): boolean {
  const toolUse = objectAt(start, 'toolUse');
  return toolUse !== undefined && textAt(toolUse, 'name') === undefined;
}

function indexIn(value: JsonObject): number | undefined {
  return numberAt(value, 'contentBlockIndex');
}

/** The kind of a block, a start or a delta; undefined if unknown. */
function kindOf(value: JsonObject | undefined): WireKind | undefined {
  if (value === undefined) return undefined;
  if (textAt(value, 'text') !== undefined) return 'text';
  return KINDS.find(([member]) => objectAt(value, member) !== undefined)?.[1];
}

const KINDS: readonly (readonly [member: string, kind: WireKind])[] = [
  ['citationsContent', 'text'],
  ['citation', 'text'],
  ['reasoningContent', 'thoughts'],
  ['toolUse', 'call'],
  ['image', 'image'],
];

/** The deltas of a whole block; the input of a call is read at its start. */
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

/** The input of a call as an object, also if the upstream leaves it out or sends nothing. */
function wholeInput(input: Json | undefined, numbers: ExactNumbers | undefined): string {
  return input === undefined || input === null || input === '' ? '{}' : stringifyExactly(input, numbers);
}

class ImageBlock implements OpenBlock {
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

/** Joins pieces of base64; a single piece stays unchanged. */
function joinBase64(pieces: readonly string[]): string {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64');
}
