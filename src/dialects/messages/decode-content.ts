import type { Event } from '../../ir/events.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import { isJsonObject, type JsonObject, readJson } from '../../kit/json/json.ts';
import { stringAt, textAt } from '../../kit/json/members.ts';
import type { DecodeContext } from '../dialect.ts';
import { type BlockForm, BlockItems, type OpenBlock } from '../shared/blocks/block-items.ts';
import { CLAUDE_FORMAT } from '../shared/reasoning/claude-seals.ts';
import { readAnnotation } from './citations.ts';
import { imageInBlock } from './media.ts';
import { sealOfSignature } from './reasoning.ts';
import type { WireBlock } from './wire.ts';

// --- Items ----------------------------------------------------------------------------------------------------------

const FORM: BlockForm = {
  callIdPrefix: 'toolu',
  citationIn: (delta) => readAnnotation(delta.citation),
  thoughtIn: (delta) => textAt(delta, 'thinking'),
  signatureIn: (delta) => stringAt(delta, 'signature'),
  sealsOf(signature) {
    const seal = sealOfSignature(signature);
    return seal === undefined ? [] : [seal];
  },
  inputIn: (delta) => textAt(delta, 'partial_json'),
};

export class BlockReader {
  readonly #blocks: BlockItems;
  readonly #numbers: ExactNumbers | undefined;
  /** The caller's format is this one: deltas that we do not model go on to it. */
  readonly #passesOn: boolean;

  constructor(context: DecodeContext) {
    this.#passesOn = context.request.format === 'messages';
    this.#numbers = context.request.exactNumbers;
    this.#blocks = new BlockItems(context, FORM);
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
    const known = this.#blocks.at(index);
    if (known !== undefined) {
      if (known.isStopped) return [];
      const events = known.delta(delta);
      const isLost = this.#passesOn && events.length === 0 && !MODELLED_DELTAS.has(delta.type);
      return isLost ? [this.unknown('content_block_delta', value)] : events;
    }
    const missed = MISSED_BLOCKS.get(delta.type);
    return missed === undefined ? [] : this.#with(this.#begin(index, missed), index, [delta]);
  }

  stop(value: JsonObject): Event[] {
    return this.#blocks.stop(this.#indexOf(value));
  }

  /** An event that we do not model: of a block, if it names one that has begun. */
  unknown(type: string, given: JsonObject): Event {
    const value = given.type === type ? given : { ...given, type };
    const block = typeof value.index === 'number' ? this.#blocks.at(value.index) : undefined;
    const event = { type: 'opaque', dialect: 'messages', value } as const;
    return block === undefined ? event : { ...event, item: block.item };
  }

  /** Ends all open items; `isCut`: the last one was cut off by a limit. */
  close(isCut: boolean): Event[] {
    return this.#blocks.close(isCut);
  }

  #indexOf(value: JsonObject): number {
    return typeof value.index === 'number' ? value.index : this.#blocks.count;
  }

  #begin(index: number, block: WireBlock): Event[] {
    switch (block.type) {
      case 'text':
        return this.#with(this.#blocks.beginText(index), index, textIn(block));
      case 'thinking':
        return this.#with(this.#blocks.beginThoughts(index), index, thoughtIn(block));
      case 'redacted_thinking':
        return this.#redacted(index, block);
      case 'tool_use':
        return this.#call(index, block);
      case 'image':
        return this.#image(index, block);
      default:
        return this.#blocks.begin(
          index,
          'opaque',
          { type: 'opaque', item: { type: 'opaque', dialect: 'messages', value: block, role: 'assistant' } },
          (item) => new OpaqueBlock(item, block, this.#numbers),
        );
    }
  }

  #with(events: Event[], index: number, deltas: readonly JsonObject[]): Event[] {
    const block = this.#blocks.at(index);
    for (const delta of deltas) events.push(...(block?.delta(delta) ?? []));
    return events;
  }

  #redacted(index: number, block: WireBlock): Event[] {
    const seal = { encrypted: stringAt(block, 'data') ?? '', format: CLAUDE_FORMAT };
    return this.#blocks.beginWhole(index, 'thoughts', { type: 'reasoning' }, (item) => [
      { type: 'seal', item, seal },
    ]);
  }

  #call(index: number, block: WireBlock): Event[] {
    const caller = isJsonObject(block.caller) && block.caller.type !== 'direct' ? block.caller : undefined;
    return this.#blocks.beginCall(index, {
      name: stringAt(block, 'name') ?? '',
      id: textAt(block, 'id'),
      input: stringifyExactly(block.input ?? {}, this.#numbers),
      ...(caller !== undefined && { ext: { messages: { caller } } }),
    });
  }

  #image(index: number, block: WireBlock): Event[] {
    const source = imageInBlock(block);
    return this.#blocks.beginWhole(index, 'image', { type: 'image' }, (item) =>
      source === undefined ? [] : [{ type: 'image-data', item, source }],
    );
  }
}

// --- Kinds of blocks ------------------------------------------------------------------------------------------------

/** The block that a delta without a start belongs to, by the delta's type. */
const MISSED_BLOCKS: ReadonlyMap<unknown, WireBlock> = new Map([
  ['text_delta', { type: 'text' }],
  ['thinking_delta', { type: 'thinking' }],
]);

/** Types of deltas whose pieces are read, or collected until the block is complete. */
const MODELLED_DELTAS: ReadonlySet<unknown> = new Set([
  'text_delta',
  'citations_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
  'compaction_delta',
]);

function textIn(block: WireBlock): JsonObject[] {
  const citations = Array.isArray(block.citations) ? block.citations : [];
  return [{ text: block.text }, ...citations.map((citation) => ({ citation }))];
}

function thoughtIn(block: WireBlock): JsonObject[] {
  return [{ thinking: block.thinking, signature: block.signature }];
}

/** A block that we do not model; its input or content may be streamed. */
class OpaqueBlock implements OpenBlock {
  readonly kind = 'opaque';
  isStopped = false;
  #input = '';
  #content: string | undefined;

  constructor(
    readonly item: number,
    private readonly block: WireBlock,
    private readonly numbers: ExactNumbers | undefined,
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
    const input = this.#input === '' ? undefined : readJson(this.#input, undefined, this.numbers);
    if (input?.ok === true) return { ...this.block, input: input.value };
    return this.#content === undefined ? undefined : { ...this.block, content: this.#content };
  }
}
