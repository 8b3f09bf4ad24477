import type { Event, ItemHead, Seal } from '../../ir/events.ts';
import type { ToolCallItem } from '../../ir/items.ts';
import { writeSseFrame } from '../../kit/frames/sse.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { THOUGHT_SEPARATOR } from '../shared/reasoning/thoughts-as-text.ts';
import { flatArguments, flatToolName } from '../shared/tools/tool-names.ts';
import { renderAnnotation } from './citations.ts';
import { opaqueBlocks, serverResultBlocks, serverUseBlocks } from './encode-calls.ts';
import type { AnswerContents } from './finish.ts';
import { toolUseId } from './ids.ts';
import { imageTextBlock } from './media.ts';
import { signatureFor, silentBlock } from './reasoning.ts';

// --- Items ----------------------------------------------------------------------------------------------------------

export type ItemEvent = Extract<Event, { item: number }>;

interface ItemWriter {
  write(event: ItemEvent): string;
}

interface QueuedItem {
  readonly item: number;
  readonly writer: ItemWriter;
  /** Events of the item that arrived while another one was being written. */
  readonly waiting: ItemEvent[];
  isEnded: boolean;
}

/**
 * Writes items as content blocks. Blocks never overlap: while one item is written, events of others wait, and follow
 * in the order in which the items began.
 */
export class BlockWriter implements AnswerContents {
  readonly #blocks: BlockFrames;
  readonly #hidesThoughts: boolean;
  /** Items in the order of their starts, and the index of the current one. */
  readonly #queue: QueuedItem[] = [];
  #front = 0;
  readonly #items = new Map<number, QueuedItem>();
  hasCalls = false;
  refusal = '';

  constructor(hidesThoughts: boolean, numbers: ExactNumbers | undefined) {
    this.#blocks = new BlockFrames(numbers);
    this.#hidesThoughts = hidesThoughts;
  }

  write(event: ItemEvent): string {
    if (event.type === 'item-start') this.#begin(event.item, event.head);
    const item = this.#items.get(event.item);
    if (item === undefined || item.isEnded) return '';
    if (event.type === 'text-delta' && event.kind === 'refusal') this.refusal += event.text;
    if (event.type === 'item-end') item.isEnded = true;
    if (item !== this.#queue[this.#front]) {
      item.waiting.push(event);
      return '';
    }
    const text = item.writer.write(event);
    return item.isEnded ? text + this.#next() : text;
  }

  /** An event of no block, with an own name, that the gateway does not model: it follows what has begun. */
  unplaced(value: JsonObject): string {
    const last = this.#queue.at(-1);
    if (last === undefined || last.isEnded) return this.#blocks.unknown(value);
    return this.write({ type: 'opaque', dialect: 'messages', item: last.item, value });
  }

  close(): string {
    let text = '';
    for (const [item, { isEnded }] of this.#items) {
      if (!isEnded) text += this.write({ type: 'item-end', item });
    }
    return text;
  }

  #begin(position: number, head: ItemHead): void {
    if (head.type === 'tool-call') this.hasCalls = true;
    const item: QueuedItem = {
      item: position,
      writer: this.#writerFor(head),
      waiting: [],
      isEnded: false,
    };
    this.#items.set(position, item);
    this.#queue.push(item);
  }

  /** The current item has ended: writes the waiting events of the following ones. */
  #next(): string {
    let text = '';
    this.#front++;
    for (let item = this.#queue[this.#front]; item !== undefined; item = this.#queue[this.#front]) {
      for (const event of item.waiting.splice(0)) text += item.writer.write(event);
      if (!item.isEnded) break;
      this.#front++;
    }
    return text;
  }

  #writerFor(head: ItemHead): ItemWriter {
    switch (head.type) {
      case 'message':
        return new MessageWriter(this.#blocks);
      case 'reasoning':
        return new ReasoningWriter(this.#blocks, head.id, this.#hidesThoughts);
      case 'tool-call':
        return new CallWriter(this.#blocks, head);
      case 'image':
        return new ImageWriter(this.#blocks);
      case 'server-call':
        return new ServerCallWriter(this.#blocks, head);
      case 'opaque':
        return new OpaqueWriter(this.#blocks, head);
    }
  }
}

// --- Messages -------------------------------------------------------------------------------------------------------

/** Each part becomes a text block, opened with its first text. */
class MessageWriter implements ItemWriter {
  #part: number | undefined;
  /** The part that has begun and not ended. */
  #begun: number | undefined;

  constructor(private readonly blocks: BlockFrames) {}

  write(event: ItemEvent): string {
    switch (event.type) {
      case 'text-delta':
        if (event.text === '') return '';
        return this.#turnTo(event.part) + this.blocks.text('text_delta', 'text', event.text);
      case 'annotation': {
        const citation = renderAnnotation(event.annotation);
        return citation === undefined ? '' : this.#turnTo(event.part) + this.blocks.citation(citation);
      }
      case 'part-start':
        this.#begun = event.part;
        return '';
      case 'opaque':
        return (
          (this.#begun === undefined ? '' : this.#turnTo(this.#begun)) + this.blocks.unknown(event.value)
        );
      case 'part-end':
      case 'item-end':
        this.#part = undefined;
        this.#begun = undefined;
        return this.blocks.stop();
      default:
        return '';
    }
  }

  #turnTo(part: number): string {
    if (this.#part === part && this.blocks.isOpen) return '';
    this.#part = part;
    return this.blocks.open({ type: 'text', text: '', citations: [] });
  }
}

// --- Thoughts -------------------------------------------------------------------------------------------------------

/** Thoughts become one block: raw or summarized, whichever came first. */
class ReasoningWriter implements ItemWriter {
  #shown: { readonly kind: string; part: number } | undefined;
  #seal: Seal = {};

  constructor(
    private readonly blocks: BlockFrames,
    private readonly id: string | undefined,
    private readonly hidesThoughts: boolean,
  ) {}

  write(event: ItemEvent): string {
    switch (event.type) {
      case 'text-delta':
        return event.text === '' ? '' : this.#thought(event.kind, event.part, event.text);
      case 'seal':
        this.#seal = { ...this.#seal, ...event.seal };
        return '';
      case 'opaque':
        if (event.value.index === undefined) return this.blocks.unknown(event.value);
        return this.hidesThoughts ? '' : this.#begin('thought', 0) + this.blocks.unknown(event.value);
      case 'item-end':
        return this.#end();
      default:
        return '';
    }
  }

  #thought(kind: string, part: number, text: string): string {
    if (this.#shown !== undefined && this.#shown.kind !== kind) return '';
    const isNewPart = this.#shown !== undefined && this.#shown.part !== part;
    const opening = this.#begin(kind, part);
    this.#shown = { kind, part };
    if (this.hidesThoughts) return opening;
    return (
      opening + this.blocks.text('thinking_delta', 'thinking', isNewPart ? THOUGHT_SEPARATOR + text : text)
    );
  }

  #begin(kind: string, part: number): string {
    if (this.#shown !== undefined) return '';
    this.#shown = { kind, part };
    return this.blocks.open({ type: 'thinking', thinking: '', signature: '' });
  }

  #end(): string {
    const sealed = { id: this.id, ...this.#seal };
    if (this.#shown !== undefined) {
      return this.blocks.text('signature_delta', 'signature', signatureFor(sealed)) + this.blocks.stop();
    }
    const block = silentBlock(sealed);
    if (block === undefined) return '';
    if (typeof block.signature !== 'string') return this.blocks.open(block) + this.blocks.stop();
    return (
      this.blocks.open({ ...block, signature: '' }) +
      this.blocks.text('signature_delta', 'signature', block.signature) +
      this.blocks.stop()
    );
  }
}

// --- Calls ----------------------------------------------------------------------------------------------------------

/** Free-text calls are written whole at the end, because their text goes into a JSON string. */
class CallWriter implements ItemWriter {
  #text = '';

  constructor(
    private readonly blocks: BlockFrames,
    private readonly head: Extract<ItemHead, { type: 'tool-call' }>,
  ) {}

  write(event: ItemEvent): string {
    switch (event.type) {
      case 'item-start':
        return this.blocks.open(toolUseBlock(this.head));
      case 'tool-input-delta':
        if (this.head.kind === 'function') return this.#input(event.text);
        this.#text += event.text;
        return '';
      case 'opaque':
        return this.blocks.unknown(event.value);
      case 'item-end':
        return this.#freeText() + this.blocks.stop();
      default:
        return '';
    }
  }

  #freeText(): string {
    return this.head.kind === 'custom'
      ? this.#input(flatArguments({ kind: 'custom', input: this.#text }))
      : '';
  }

  #input(text: string): string {
    return this.blocks.text('input_json_delta', 'partial_json', text);
  }
}

/** A call of a server tool is written when it begins, its result as a whole block. */
class ServerCallWriter implements ItemWriter {
  constructor(
    private readonly blocks: BlockFrames,
    private readonly head: Extract<ItemHead, { type: 'server-call' }>,
  ) {}

  write(event: ItemEvent): string {
    switch (event.type) {
      case 'item-start':
        return this.#written(serverUseBlocks(this.head, this.blocks.numbers));
      case 'server-result':
        return this.#written(serverResultBlocks(this.head, event.output, event.isFailed));
      case 'opaque':
        return this.blocks.unknown(event.value);
      default:
        return '';
    }
  }

  #written(blocks: readonly JsonObject[]): string {
    return blocks.map((block) => this.blocks.whole(block)).join('');
  }
}

// --- Images ---------------------------------------------------------------------------------------------------------

/** Images are written as text, in one piece. */
class ImageWriter implements ItemWriter {
  constructor(private readonly blocks: BlockFrames) {}

  write(event: ItemEvent): string {
    if (event.type === 'opaque') return this.blocks.unknown(event.value);
    if (event.type !== 'image-data') return '';
    const block = imageTextBlock(event.source);
    if (typeof block?.text !== 'string') return '';
    return (
      this.blocks.open({ ...block, text: '' }) +
      this.blocks.text('text_delta', 'text', block.text) +
      this.blocks.stop()
    );
  }
}

// --- Other items ----------------------------------------------------------------------------------------------------

/** Blocks that we do not model are written once they are complete, with the events of theirs that came in between. */
class OpaqueWriter implements ItemWriter {
  #unknown: JsonObject[] | undefined;

  constructor(
    private readonly blocks: BlockFrames,
    private readonly head: Extract<ItemHead, { type: 'opaque' }>,
  ) {}

  write(event: ItemEvent): string {
    if (event.type === 'opaque') {
      this.#unknown ??= [];
      this.#unknown.push(event.value);
    }
    if (event.type !== 'item-end') return '';
    const { item } = this.head;
    const whole = event.value === undefined ? item : { ...item, value: event.value };
    const ofBlock = this.#unknown?.filter(({ index }) => index !== undefined);
    const others = this.#unknown?.filter(({ index }) => index === undefined) ?? [];
    const blocks = opaqueBlocks(whole, this.blocks.numbers);
    return (
      blocks.map((block) => this.blocks.whole(block, ofBlock)).join('') +
      others.map((value) => this.blocks.unknown(value)).join('')
    );
  }
}

// --- Frames ---------------------------------------------------------------------------------------------------------

/** Frames of the open block, and the number of blocks before it. */
class BlockFrames {
  #index = -1;
  #isOpen = false;

  /** `numbers`: long numbers whose digits are kept in whole blocks. */
  constructor(readonly numbers: ExactNumbers | undefined) {}

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(block: JsonObject): string {
    const before = this.stop();
    this.#index++;
    this.#isOpen = true;
    return (
      before + this.#frame('content_block_start', `"content_block":${stringifyExactly(block, this.numbers)}`)
    );
  }

  /** A block that is complete; members that clients expect in deltas go into a delta. `unknown`: further events. */
  whole(block: JsonObject, unknown: readonly JsonObject[] = []): string {
    return this.#opened(block) + unknown.map((value) => this.unknown(value)).join('') + this.stop();
  }

  /** An event, with an own name, that the gateway does not model; one with an index is of the block. */
  unknown(value: JsonObject): string {
    const placed = value.index === undefined ? value : { ...value, index: this.#index };
    return writeSseFrame(stringifyExactly(placed, this.numbers), String(value.type));
  }

  #opened(block: JsonObject): string {
    if (isJsonObject(block.input) && Object.keys(block.input).length > 0) {
      const input = stringifyExactly(block.input, this.numbers);
      return this.open({ ...block, input: {} }) + this.text('input_json_delta', 'partial_json', input);
    }
    if (block.type === 'compaction' && typeof block.content === 'string') {
      return this.open({ ...block, content: null }) + this.text('compaction_delta', 'content', block.content);
    }
    return this.open(block);
  }

  /** `kind` and `member` are ours; the value is the upstream's text. */
  text(kind: string, member: string, value: string): string {
    return this.#delta(`{"type":"${kind}","${member}":${JSON.stringify(value)}}`);
  }

  citation(citation: JsonObject): string {
    return this.#delta(stringifyExactly({ type: 'citations_delta', citation }, this.numbers));
  }

  stop(): string {
    if (!this.#isOpen) return '';
    this.#isOpen = false;
    return writeSseFrame(`{"type":"content_block_stop","index":${this.#index}}`, 'content_block_stop');
  }

  #delta(delta: string): string {
    return this.#frame('content_block_delta', `"delta":${delta}`);
  }

  #frame(type: string, rest: string): string {
    return writeSseFrame(`{"type":"${type}","index":${this.#index},${rest}}`, type);
  }
}

// --- Shared with relayed streams and whole bodies -------------------------------------------------------------------

/** The second event of every stream, which also keeps it alive. */
export const PING = writeSseFrame('{"type":"ping"}', 'ping');

/** Members that clients expect in a block of an answer and upstreams may leave out. */
const BLOCK_DEFAULTS: ReadonlyMap<unknown, JsonObject> = new Map([
  ['text', { text: '', citations: [] }],
  ['thinking', { thinking: '', signature: '' }],
  ['tool_use', { input: {}, caller: { type: 'direct' } }],
]);

/** The block with every member that clients expect; the same object if none is missing. Null counts as absent. */
export function withBlockDefaults(block: JsonObject): JsonObject {
  const defaults = Object.entries(BLOCK_DEFAULTS.get(block.type) ?? {});
  const missing = defaults.filter(([name]) => block[name] === undefined || block[name] === null);
  return missing.length === 0 ? block : { ...block, ...Object.fromEntries(missing) };
}

type CallHead = Extract<ItemHead, { type: 'tool-call' }>;

/** The block of a call for its caller, with empty input. Only a namespace becomes part of the name. */
export function toolUseBlock(call: CallHead | ToolCallItem): JsonObject {
  return {
    type: 'tool_use',
    id: toolUseId(call.callId),
    name: call.namespace === undefined ? call.name : flatToolName(call.name, call.namespace),
    input: {},
    caller: { type: 'direct' },
    ...call.ext?.messages,
  };
}
