import type { Event, Finish } from '../../ir/events.ts';
import type { Usage } from '../../ir/usage.ts';
import type { Json, JsonObject } from '../../kit/json.ts';
import { layOver } from '../../kit/lay-over.ts';
import { objectOf } from '../../kit/members.ts';
import { writeSseFrame } from '../../kit/sse.ts';
import type { ReplyContext } from '../dialect.ts';

import { emptyMessage, finalUsage, identityFields, metadataField } from './message.ts';
import { renderStop } from './stop-reason.ts';
import { withWholeToolUse } from './usage.ts';
import { withBlockDefaults } from './whole-block.ts';

type RelayEvent = Extract<Event, { type: 'relay' }>;

/** Names that may stand on an `event:` line. */
const PLAIN_NAME = /^[a-z_]{1,64}$/;

/**
 * Writes an upstream's own frames, patched where the gateway has something to say. What the upstream says about the
 * end is held back until the answer is settled.
 */
export class RelayWriter {
  readonly #context: ReplyContext;
  /** Indexes of blocks that began and did not stop. */
  readonly #open = new Set<number>();
  #isStarted = false;
  /** What all message_delta events said: what is said later wins. */
  readonly #end: JsonObject = {};
  readonly #endDelta: JsonObject = {};
  readonly #endUsage: JsonObject = {};
  #stop: JsonObject | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  write({ frame, value, events }: RelayEvent): string {
    const type = typeof value.type === 'string' ? value.type : frame.event;
    switch (type) {
      case 'message_start':
        return this.#start(value);
      case 'content_block_start':
        return this.#before() + this.#blockStart(value, frame.data, events);
      case 'content_block_delta':
        return this.#before() + verbatim(value, frame.data, type);
      case 'content_block_stop':
        return this.#open.delete(value.index as number) ? verbatim(value, frame.data, type) : '';
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
        return PLAIN_NAME.test(type) ? verbatim(value, frame.data, type) : '';
    }
  }

  /** The upstream's end of the message, with what settlement knows. */
  finish(finish: Finish, usage: Usage | undefined): string {
    const delta = {
      ...this.#end,
      type: 'message_delta',
      delta: { ...renderStop(finish, { hasToolCall: false, refusal: '' }), ...this.#endDelta },
      usage: finalUsage(this.#context, finish, usage, this.#endUsage),
    };
    const stop = { ...this.#stop, type: 'message_stop', ...metadataField(this.#context, finish.settled) };
    return (
      this.#before() +
      this.#closeBlocks() +
      writeSseFrame(JSON.stringify(delta), 'message_delta') +
      writeSseFrame(JSON.stringify(stop), 'message_stop')
    );
  }

  /** A second start would confuse clients: some servers send it twice. */
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
    return writeSseFrame(
      JSON.stringify({ ...value, type: 'message_start', message: patched }),
      'message_start',
    );
  }

  /** A message that never began gets a beginning. */
  #before(): string {
    return this.#isStarted ? '' : this.#start({});
  }

  /** Clients read one block at a time and need its fields from the start on. */
  #blockStart(value: JsonObject, data: string, events: readonly Event[]): string {
    const before = this.#closeBlocks();
    if (typeof value.index === 'number') this.#open.add(value.index);
    const block = objectOf(value.content_block);
    const head = events.find((event) => event.type === 'item-start')?.head;
    const id = head?.type === 'tool-call' && !isText(block.id) ? { id: head.callId } : undefined;
    const whole = withBlockDefaults(block);
    if (whole === block && id === undefined) return before + verbatim(value, data, 'content_block_start');
    const patched = { ...value, content_block: { ...whole, ...id } };
    return before + writeSseFrame(JSON.stringify(patched), 'content_block_start');
  }

  #closeBlocks(): string {
    let text = '';
    for (const index of this.#open) {
      text += writeSseFrame(JSON.stringify({ type: 'content_block_stop', index }), 'content_block_stop');
    }
    this.#open.clear();
    return text;
  }
}

/** The frame's own text, unless it is spread over lines or lacks its type. */
function verbatim(value: JsonObject, data: string, type: string): string {
  const isReady = value.type === type && !/[\r\n]/.test(data);
  return writeSseFrame(isReady ? data : JSON.stringify({ ...value, type }), type);
}

/** Counts as the upstream wrote them, without those that are no counts. */
function withoutBadCounts(usage: JsonObject): JsonObject {
  const isBad = (name: string, value: Json | undefined) =>
    name.endsWith('_tokens') && value !== null && !(Number.isInteger(value) && (value as number) >= 0);
  return Object.fromEntries(Object.entries(usage).filter(([name, value]) => !isBad(name, value)));
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== '';
}
