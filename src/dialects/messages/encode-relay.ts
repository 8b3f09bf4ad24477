import type { Event, Finish, ItemHead } from '../../ir/events.ts';
import type { Usage } from '../../ir/usage.ts';
import { writeSseFrame } from '../../kit/frames/sse.ts';
import { stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import type { JsonTemplate } from '../../kit/json/json-template.ts';
import { layOver } from '../../kit/json/lay-over.ts';
import { objectOf } from '../../kit/json/members.ts';
import type { ReplyContext } from '../dialect.ts';
import { isEventName } from '../shared/answers/event-names.ts';
import { emptyMessage, identityFields, metadataField } from './encode-body.ts';
import { PING, withBlockDefaults } from './encode-content.ts';
import { relayFinish } from './finish.ts';
import { imageBlockAsText } from './media.ts';
import { finalUsage, withWholeToolUse } from './usage.ts';

type RelayEvent = Extract<Event, { type: 'relay' }>;

/** The template of the last frame, if such frames can be forwarded verbatim. */
interface RepeatedDelta {
  readonly template: JsonTemplate;
  readonly block: number;
}

/** Types of blocks that a delta can begin if their start is missing, by the type of the delta. */
const BLOCK_OF_DELTA: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
]);

/**
 * Writes an upstream's own frames, patched with the gateway's members. The upstream's end is held back until the
 * answer is settled.
 */
export class RelayWriter {
  readonly #context: ReplyContext;
  readonly #blocks = new BlockOrder();
  #isStarted = false;
  /** True if the message began and nothing of it was written yet. */
  #isFresh = false;
  /** Events that came before the start of the message. */
  #early = '';
  #hasCalls = false;
  /** Members of all message_delta events; later ones win. */
  readonly #end: JsonObject = {};
  readonly #endDelta: JsonObject = {};
  readonly #endUsage: JsonObject = {};
  #stop: JsonObject | undefined;
  #repeated: RepeatedDelta | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  write(event: RelayEvent): string {
    const { frame, template } = event;
    if (template !== undefined && template === this.#repeated?.template) {
      return this.#blocks.add(this.#repeated.block, writeSseFrame(frame.data, 'content_block_delta'));
    }
    const text = this.#write(event);
    this.#repeated = template && this.#repeatedBy(template, event);
    return text;
  }

  /** Set if frames of this template can be forwarded verbatim: they are deltas of an open block and need no repair. */
  #repeatedBy(template: JsonTemplate, { frame, value }: RelayEvent): RepeatedDelta | undefined {
    const { type, index } = value;
    const isVerbatim = type === 'content_block_delta' && isReady(value, frame.data, type);
    if (!isVerbatim || typeof index !== 'number' || !this.#blocks.isOpen(index)) return undefined;
    return { template, block: index };
  }

  #write({ frame, value, events }: RelayEvent): string {
    const type = typeof value.type === 'string' ? value.type : frame.event;
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    switch (type) {
      case 'message_start':
        this.#isFresh = true;
        return this.#start(value);
      case 'ping':
        return this.#isStarted && !isFresh ? this.#verbatim(value, frame.data, type) : '';
      case 'content_block_start':
        return this.#before() + this.#blockStart(value, frame.data, events);
      case 'content_block_delta':
        return this.#before() + this.#blockDelta(value, frame.data);
      case 'content_block_stop':
        return this.#blocks.stop(value.index as number, this.#verbatim(value, frame.data, type));
      case 'message_delta':
        layOver(this.#end, value);
        layOver(this.#endDelta, objectOf(value.delta));
        layOver(this.#endUsage, objectOf(value.usage));
        return '';
      case 'message_stop':
        this.#stop = value;
        return '';
      case undefined:
      case 'error':
        return '';
      default:
        return isEventName(type) ? this.#unknown(value, this.#verbatim(value, frame.data, type)) : '';
    }
  }

  /** Clients read no other event before the start of the message, and a block whole. */
  #unknown({ index }: JsonObject, frame: string): string {
    if (!this.#isStarted) {
      this.#early += frame;
      return '';
    }
    const isOfBlock = typeof index === 'number' && this.#blocks.isOpen(index);
    return isOfBlock ? this.#blocks.add(index, frame) : frame;
  }

  /** The upstream's end of the message, with the settled members. */
  finish(finish: Finish, usage: Usage | undefined): string {
    const delta = {
      ...this.#end,
      type: 'message_delta',
      delta: {
        ...this.#endDelta,
        ...relayFinish(this.#endDelta, finish, { hasCalls: this.#hasCalls, refusal: '' }),
      },
      usage: finalUsage(this.#context, finish, usage, this.#endUsage),
    };
    const stop = { ...this.#stop, type: 'message_stop', ...metadataField(this.#context, finish.settled) };
    return (
      this.#before() +
      this.#blocks.stopAll() +
      this.#frameOf(delta, 'message_delta') +
      this.#frameOf(stop, 'message_stop')
    );
  }

  #frameOf(value: JsonObject, type: string): string {
    return writeSseFrame(stringifyExactly(value, this.#context.request.exactNumbers), type);
  }

  /** The frame's own text, unless it spans lines or has no type. */
  #verbatim(value: JsonObject, data: string, type: string): string {
    return isReady(value, data, type) ? writeSseFrame(data, type) : this.#frameOf({ ...value, type }, type);
  }

  /** Drops a second start, which some servers send and which would confuse clients. */
  #start(value: JsonObject): string {
    if (this.#isStarted) return '';
    this.#isStarted = true;
    const fresh = emptyMessage(this.#context);
    const message = objectOf(value.message);
    const patched = {
      ...fresh,
      ...message,
      ...identityFields(this.#context),
      usage: withWholeToolUse({
        ...objectOf(fresh.usage),
        ...withoutBadCounts(objectOf(message.usage)),
        output_tokens: 0,
      }),
    };
    const start = { ...value, type: 'message_start', message: patched };
    const early = this.#early;
    this.#early = '';
    return this.#frameOf(start, 'message_start') + PING + early;
  }

  #before(): string {
    return this.#isStarted ? '' : this.#start({});
  }

  /** Clients need the fields of a block from its start on. */
  #blockStart(value: JsonObject, data: string, events: readonly Event[]): string {
    if (typeof value.index !== 'number' || this.#blocks.isOpen(value.index)) return '';
    const head = events.find((event) => event.type === 'item-start')?.head;
    if (head?.type === 'tool-call') this.#hasCalls = true;
    return this.#blocks.start(value.index, this.#blockFrame(value, data, head));
  }

  #blockFrame(value: JsonObject, data: string, head: ItemHead | undefined): string {
    const block = objectOf(value.content_block);
    if (block.type === 'image') return this.#image(value, block);
    const id = head?.type === 'tool-call' && !isText(block.id) ? { id: head.callId } : undefined;
    const whole = withBlockDefaults(block);
    if (whole === block && id === undefined) return this.#verbatim(value, data, 'content_block_start');
    const patched = { ...value, content_block: { ...whole, ...id } };
    return this.#frameOf(patched, 'content_block_start');
  }

  /** Some servers begin text without a start; deltas of any other block without a start are dropped. */
  #blockDelta(value: JsonObject, data: string): string {
    const { index } = value;
    if (typeof index !== 'number') return '';
    const delta = this.#verbatim(value, data, 'content_block_delta');
    if (this.#blocks.isOpen(index)) return this.#blocks.add(index, delta);
    const type = BLOCK_OF_DELTA.get(objectOf(value.delta).type);
    if (type === undefined) return '';
    const start = { type: 'content_block_start', index, content_block: withBlockDefaults({ type }) };
    const begun = this.#blocks.start(index, this.#frameOf(start, 'content_block_start'));
    return begun + this.#blocks.add(index, delta);
  }

  /** Clients know no images in answers, so an image becomes text. */
  #image(value: JsonObject, block: JsonObject): string {
    const whole = imageBlockAsText(block);
    const start = { ...value, type: 'content_block_start', content_block: { ...whole, text: '' } };
    const { index } = value;
    const delta = { type: 'content_block_delta', index, delta: { type: 'text_delta', text: whole.text } };
    return this.#frameOf(start, 'content_block_start') + this.#frameOf(delta, 'content_block_delta');
  }
}

function isReady(value: JsonObject, data: string, type: string): boolean {
  return value.type === type && !/[\r\n]/.test(data);
}

/** The upstream's counts without invalid ones. */
function withoutBadCounts(usage: JsonObject): JsonObject {
  const isBad = (name: string, value: Json | undefined) =>
    name.endsWith('_tokens') && value !== null && !(Number.isInteger(value) && (value as number) >= 0);
  return Object.fromEntries(Object.entries(usage).filter(([name, value]) => !isBad(name, value)));
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== '';
}

// --- Order of blocks ------------------------------------------------------------------------------------------------

interface WaitingBlock {
  readonly frames: string[];
  isStopped: boolean;
}

/**
 * Orders the frames of blocks one block after the other, as clients read them. Most upstreams write them so; if they
 * interleave, frames of later blocks wait until the block before has stopped.
 */
export class BlockOrder {
  #current: number | undefined;
  readonly #waiting = new Map<number, WaitingBlock>();

  isOpen(index: number): boolean {
    return this.#current === index || this.#waiting.get(index)?.isStopped === false;
  }

  /** Begins a block; returns the frames that can be written now. */
  start(index: number, frame: string): string {
    if (this.#current === undefined) {
      this.#current = index;
      return frame;
    }
    this.#waiting.set(index, { frames: [frame], isStopped: false });
    return '';
  }

  add(index: number, frame: string): string {
    if (this.#current === index) return frame;
    this.#waiting.get(index)?.frames.push(frame);
    return '';
  }

  stop(index: number, frame: string): string {
    if (this.#current === index) {
      this.#current = undefined;
      return frame + this.#goOn();
    }
    const block = this.#waiting.get(index);
    if (block === undefined) return '';
    block.frames.push(frame);
    block.isStopped = true;
    return '';
  }

  stopAll(): string {
    let text = '';
    while (this.#current !== undefined) text += this.stop(this.#current, stopFrame(this.#current));
    return text;
  }

  /** The frames that waited for the last block, up to the next one that is still open. */
  #goOn(): string {
    let text = '';
    for (const [index, block] of this.#waiting) {
      this.#waiting.delete(index);
      text += block.frames.join('');
      if (block.isStopped) continue;
      this.#current = index;
      break;
    }
    return text;
  }
}

function stopFrame(index: number): string {
  return writeSseFrame(JSON.stringify({ type: 'content_block_stop', index }), 'content_block_stop');
}
