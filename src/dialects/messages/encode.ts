import type { Event, EventBatch, Failure, Finish } from '../../ir/events.ts';
import type { Usage } from '../../ir/usage.ts';
import { writeSseComment, writeSseFrame } from '../../kit/frames/sse.ts';
import { stringAt } from '../../kit/json/members.ts';
import type { ReplyContext, StreamEncoder } from '../dialect.ts';
import { isEventName } from '../shared/answers/event-names.ts';
import { emptyMessage, metadataField } from './encode-body.ts';
import { BlockWriter, PING } from './encode-content.ts';
import { RelayWriter } from './encode-relay.ts';
import { encodeError } from './error.ts';
import { renderFinish } from './finish.ts';
import { hidesThoughts } from './reasoning.ts';
import { finalUsage } from './usage.ts';

export function createEncoder(context: ReplyContext): StreamEncoder {
  return new MessageEncoder(context);
}

class MessageEncoder implements StreamEncoder {
  readonly #context: ReplyContext;
  readonly #blocks: BlockWriter;
  readonly #relay: RelayWriter;
  #usage: Usage | undefined;
  #isStarted = false;
  #isRelayed = false;
  #isEnded = false;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#blocks = new BlockWriter(hidesThoughts(context), context.request.exactNumbers);
    this.#relay = new RelayWriter(context);
  }

  encode(batch: EventBatch): string {
    let text = '';
    for (const event of batch) text += this.#write(event);
    return text;
  }

  keepAlive(): string {
    if (this.#isEnded) return '';
    return this.#isStarted || this.#relay.isStarted
      ? PING
      : writeSseComment(`${this.#context.vendor.toUpperCase()} PROCESSING`);
  }

  #write(event: Event): string {
    if (this.#isEnded) return '';
    switch (event.type) {
      case 'relay':
        return this.#relayed(event);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#isEnded = true;
        return this.#finish(event);
      case 'failure':
        this.#isEnded = true;
        return this.#fail(event);
      case 'start':
        return this.#isRelayed ? '' : this.#start();
      case 'debug':
      case 'vectors':
        return '';
      case 'opaque':
        return this.#opaque(event);
      default:
        return this.#isRelayed ? '' : this.#start() + this.#blocks.write(event);
    }
  }

  // --- Content ------------------------------------------------------------------------------------------------------

  #start(): string {
    if (this.#isStarted) return '';
    this.#isStarted = true;
    const start = { type: 'message_start', message: emptyMessage(this.#context) };
    return writeSseFrame(JSON.stringify(start), 'message_start') + PING;
  }

  /** An event that the gateway does not model; in the relay lane its frame is written. */
  #opaque(event: Extract<Event, { type: 'opaque' }>): string {
    const { dialect, value } = event;
    const type = stringAt(value, 'type') ?? '';
    if (this.#isRelayed || dialect !== 'messages' || !isEventName(type)) return '';
    if ('item' in event) return this.#start() + this.#blocks.write(event);
    const { index: _, ...unplaced } = value;
    return this.#start() + this.#blocks.unplaced(unplaced);
  }

  // --- Relay --------------------------------------------------------------------------------------------------------

  /** Frames of this dialect are forwarded; of others, and of whole bodies, the events are written. */
  #relayed(event: Extract<Event, { type: 'relay' }>): string {
    for (const inner of event.events) if (inner.type === 'usage') this.#usage = inner.usage;
    if (event.dialect === 'messages' && event.whole !== true) {
      this.#isRelayed = true;
      return this.#relay.write(event);
    }
    return this.encode(event.events.filter((inner) => inner.type !== 'finish' && inner.type !== 'failure'));
  }

  // --- The end ------------------------------------------------------------------------------------------------------

  #finish(finish: Finish): string {
    if (this.#isRelayed) return this.#relay.finish(finish, this.#usage);
    const before = this.#start() + this.#blocks.close();
    const edits = finish.ext?.messages?.context_management;
    const delta = {
      type: 'message_delta',
      delta: renderFinish(finish, this.#blocks),
      usage: finalUsage(this.#context, finish, this.#usage),
      ...(edits !== undefined && { context_management: edits }),
    };
    const stop = { type: 'message_stop', ...metadataField(this.#context, finish.settled) };
    return (
      before +
      writeSseFrame(JSON.stringify(delta), 'message_delta') +
      writeSseFrame(JSON.stringify(stop), 'message_stop')
    );
  }

  #fail({ error, settled }: Failure): string {
    const { vendor, generationId } = this.#context;
    const body = encodeError(error.withRouting(settled?.metadata ?? error.routing), { vendor, generationId });
    return writeSseFrame(JSON.stringify(body), 'error');
  }
}
