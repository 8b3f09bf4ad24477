import type { Event, EventBatch, Failure, Finish, ItemHead } from '../../ir/events.ts';
import { isJsonObject, type JsonObject } from '../../kit/json.ts';
import { layOver } from '../../kit/lay-over.ts';
import { membersBeyond, objectAt, objectsAt, textAt } from '../../kit/members.ts';
import { writeSseComment, writeSseFrame } from '../../kit/sse.ts';
import type { ReplyContext, StreamEncoder } from '../dialect.ts';
import { errorObject } from '../error-envelope.ts';
import { renderAnnotation } from './annotation.ts';
import {
  callHead,
  callInput,
  callSeal,
  isRefusalText,
  logprobsObject,
  reasoningSeals,
  renderImage,
  speaksLegacyCalls,
} from './answer.ts';
import { renderFinishReason } from './finish-reason.ts';

import { renderUsage, usageObjectIn } from './usage.ts';
import { DONE } from './wire.ts';

/** Turns events into chunks. Holds the state of one reply. */
export function createEncoder(context: ReplyContext): StreamEncoder {
  return new ChatEncoder(context);
}

/** Members of a relayed chunk that are ours to say, or are said at the end. */
const OWN_CHUNK_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'provider',
  'choices',
  'usage',
  'error',
]);
const REASONING_FIELDS: ReadonlySet<string> = new Set([
  'reasoning',
  'reasoning_details',
  'reasoning_content',
]);
const NO_FIELDS: ReadonlySet<string> = new Set();

const RELAY_LANE: ReadonlySet<Event['type']> = new Set(['relay', 'finish', 'failure']);

class ChatEncoder implements StreamEncoder {
  readonly #context: ReplyContext;
  /** The chunk members that never change, as JSON text that is still open. */
  readonly #opening: string;
  readonly #excludesReasoning: boolean;
  readonly #isLegacy: boolean;
  #hasRole = false;
  #hasRefusal = false;
  #isEnded = false;
  #isRelay = false;
  /** Heads of the items that are being written, and the index of each call. */
  readonly #heads = new Map<number, ItemHead>();
  readonly #callIndexes = new Map<number, number>();
  /** Index in `reasoning_details` of each part of each item: `item/kind/part`. */
  readonly #detailIndexes = new Map<string, number>();
  readonly #lastDetailIndex = new Map<number, number>();
  /** What relayed chunks said beside their deltas; it comes out with the last chunk. */
  readonly #held: JsonObject = {};
  #heldUsage: JsonObject | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#excludesReasoning = context.request.reasoning?.exclude === true;
    this.#isLegacy = speaksLegacyCalls(context.request);
    this.#opening = JSON.stringify(chunkHead(context)).slice(0, -1);
  }

  encode(batch: EventBatch): string {
    let text = '';
    for (const event of batch) {
      this.#isRelay ||= event.type === 'relay';
      // Beside relayed chunks only the end is news: other events close what the chunks have said.
      if (!this.#isRelay || RELAY_LANE.has(event.type)) text += this.#encodeEvent(event);
    }
    return text;
  }

  keepAlive(): string {
    return writeSseComment(`${this.#context.vendor.toUpperCase()} PROCESSING`);
  }

  #encodeAll(events: readonly Event[]): string {
    return events.map((event) => this.#encodeEvent(event)).join('');
  }

  #encodeEvent(event: Event): string {
    if (this.#isEnded) return '';
    if (isRefusalText(event)) this.#hasRefusal = true;
    switch (event.type) {
      case 'item-start':
        return this.#beginItem(event.item, event.head);
      case 'text-delta':
        return this.#text(event);
      case 'annotation': {
        const annotation = renderAnnotation(event.annotation);
        return annotation === undefined ? '' : this.#delta({ annotations: [annotation] });
      }
      case 'tool-input-delta':
        return this.#callInput(event.item, event.text);
      case 'image-data': {
        const images = renderImage(event);
        return images.length === 0 ? '' : this.#delta({ images });
      }
      case 'seal':
        return this.#seal(event.item, event.seal);
      case 'opaque':
        return event.dialect === 'chat' ? this.#delta(event.value) : '';
      case 'relay':
        return this.#relay(event);
      case 'finish':
        return this.#finish(event);
      case 'failure':
        return this.#fail(event);
      default:
        return '';
    }
  }

  // --- Deltas --------------------------------------------------------------------------------------------------------

  #beginItem(item: number, head: ItemHead): string {
    this.#heads.set(item, head);
    if (head.type === 'opaque') return head.item.dialect === 'chat' ? this.#delta(head.item.value) : '';
    if (head.type !== 'tool-call') return '';
    const index = this.#callIndexes.size;
    this.#callIndexes.set(item, index);
    return this.#delta({ tool_calls: [{ index, ...callHead(head), ...head.ext?.chat }] });
  }

  #callInput(item: number, text: string): string {
    const head = this.#heads.get(item);
    const index = this.#callIndexes.get(item);
    if (head?.type !== 'tool-call' || index === undefined) return '';
    return this.#delta({ tool_calls: [{ index, ...callInput(head.kind, text) }] });
  }

  #text(event: Extract<Event, { type: 'text-delta' }>): string {
    switch (event.kind) {
      case 'text':
        return this.#delta({ content: event.text }, event.logprobs && logprobsObject(event.logprobs));
      case 'refusal':
        return this.#delta({ refusal: event.text });
      case 'thought':
      case 'summary':
        return this.#thought(event.item, event.part, event.kind, event.text);
    }
  }

  #thought(item: number, part: number, kind: 'thought' | 'summary', text: string): string {
    if (this.#excludesReasoning) return '';
    const id = this.#reasoningId(item);
    const detail: JsonObject = {
      ...(kind === 'thought'
        ? { type: 'reasoning.text', text }
        : { type: 'reasoning.summary', summary: text }),
      ...(id !== undefined && { id }),
      index: this.#detailIndex(item, part, kind),
    };
    return this.#delta({ reasoning: text, reasoning_details: [detail] });
  }

  #seal(item: number, seal: Extract<Event, { type: 'seal' }>['seal']): string {
    const head = this.#heads.get(item);
    if (head?.type === 'tool-call') return this.#delta({ reasoning_details: [callSeal(head.callId, seal)] });
    if (this.#excludesReasoning) return '';
    const index = this.#lastDetailIndex.get(item) ?? this.#detailIndex(item, 0, 'thought');
    const details = reasoningSeals(seal, this.#reasoningId(item), index);
    return details.length === 0 ? '' : this.#delta({ reasoning_details: details });
  }

  #reasoningId(item: number): string | undefined {
    const head = this.#heads.get(item);
    return head?.type === 'reasoning' ? head.id : undefined;
  }

  #detailIndex(item: number, part: number, kind: string): number {
    const key = `${item}/${kind}/${part}`;
    const index = this.#detailIndexes.get(key) ?? this.#detailIndexes.size;
    this.#detailIndexes.set(key, index);
    this.#lastDetailIndex.set(item, index);
    return index;
  }

  // --- Chunks --------------------------------------------------------------------------------------------------------

  #delta(delta: JsonObject, logprobs: JsonObject | null = null): string {
    return this.#role() + this.#chunk(delta, logprobs);
  }

  /** The first chunk says who speaks. */
  #role(): string {
    if (this.#hasRole) return '';
    this.#hasRole = true;
    return this.#chunk({ role: 'assistant', content: '' }, null);
  }

  #chunk(delta: JsonObject, logprobs: JsonObject | null): string {
    const choice = `{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":null,"native_finish_reason":null,"logprobs":${JSON.stringify(logprobs)}}`;
    return writeSseFrame(`${this.#opening},"choices":[${choice}]}`);
  }

  // --- Relay ---------------------------------------------------------------------------------------------------------

  /** An upstream chunk with its own delta; everything that belongs to the end is held back. */
  #relay(event: Extract<Event, { type: 'relay' }>): string {
    const inner = event.events.filter(({ type }) => type !== 'finish' && type !== 'failure');
    if (event.dialect !== 'chat' || event.whole === true) return this.#encodeAll(inner);
    this.#hold(event.value);
    const choice = objectsAt(event.value, 'choices').find(({ index }) => (index ?? 0) === 0);
    const delta = objectAt(choice, 'delta');
    if (choice === undefined || delta === undefined || !isPlainDelta(delta, this.#isLegacy)) {
      return this.#encodeAll(inner);
    }
    this.#note(inner);
    const shown = membersBeyond(delta, this.#excludesReasoning ? REASONING_FIELDS : NO_FIELDS) ?? {};
    const says = Object.entries(shown).some(([name, value]) => name !== 'role' && !isEmpty(value));
    if (!says && (this.#hasRole || typeof choice.finish_reason === 'string')) return '';
    const role = this.#hasRole ? {} : { role: 'assistant' };
    this.#hasRole = true;
    const patched = {
      ...membersBeyond(event.value, OWN_CHUNK_FIELDS),
      ...chunkHead(this.#context),
      choices: [
        {
          ...choice,
          index: 0,
          delta: { ...shown, ...role },
          finish_reason: null,
          native_finish_reason: null,
          logprobs: choice.logprobs ?? null,
        },
      ],
    };
    return writeSseFrame(JSON.stringify(patched));
  }

  #hold(value: JsonObject): void {
    layOver(this.#held, membersBeyond(value, OWN_CHUNK_FIELDS) ?? {});
    this.#heldUsage = usageObjectIn(value) ?? this.#heldUsage;
  }

  /** Keeps count of what a passed-on chunk said, in case a later one must be written anew. */
  #note(events: readonly Event[]): void {
    for (const event of events) {
      if (isRefusalText(event)) this.#hasRefusal = true;
      if (event.type === 'text-delta' && (event.kind === 'thought' || event.kind === 'summary')) {
        this.#detailIndex(event.item, event.part, event.kind);
      }
      if (event.type !== 'item-start') continue;
      this.#heads.set(event.item, event.head);
      if (event.head.type === 'tool-call') this.#callIndexes.set(event.item, this.#callIndexes.size);
    }
  }

  // --- The end -------------------------------------------------------------------------------------------------------

  #finish(finish: Finish): string {
    const { settled } = finish;
    const explanation = this.#hasRefusal ? undefined : finish.explanation;
    return this.#last({
      ...this.#held,
      ...finish.ext?.chat,
      ...chunkHead(this.#context),
      service_tier: finish.serviceTier ?? this.#context.serviceTier,
      choices: [
        {
          index: 0,
          delta: {
            ...(!this.#hasRole && { role: 'assistant' }),
            content: '',
            ...(explanation !== undefined && { refusal: explanation }),
          },
          finish_reason: renderFinishReason(finish, {
            hasRefusal: this.#hasRefusal,
            isLegacy: this.#isLegacy,
          }),
          native_finish_reason: finish.nativeReason ?? null,
          logprobs: null,
        },
      ],
      ...(settled !== undefined && { usage: renderUsage(settled, this.#heldUsage) }),
      ...metadataOf(this.#context, settled?.metadata),
    });
  }

  #fail({ error, settled }: Failure): string {
    return this.#last({
      ...chunkHead(this.#context),
      error: errorObject(error),
      choices: [
        {
          index: 0,
          delta: { ...(!this.#hasRole && { role: 'assistant' }), content: '' },
          finish_reason: 'error',
          native_finish_reason: null,
          logprobs: null,
        },
      ],
      ...(settled !== undefined && { usage: renderUsage(settled) }),
      ...metadataOf(this.#context, settled?.metadata ?? error.routing),
    });
  }

  #last(chunk: JsonObject): string {
    this.#isEnded = true;
    return writeSseFrame(JSON.stringify(chunk)) + writeSseFrame(DONE);
  }
}

function chunkHead(context: ReplyContext): JsonObject {
  return {
    id: context.generationId,
    object: 'chat.completion.chunk',
    created: Math.floor(context.createdAtMs / 1000),
    model: context.model,
    provider: context.provider,
  };
}

/** The routing metadata member, if there is any. */
export function metadataOf(context: ReplyContext, metadata: object | undefined): JsonObject {
  return metadata === undefined ? {} : { [`${context.vendor}_metadata`]: { ...metadata } };
}

/** True when every client can read the delta as it is; otherwise it is written anew from what it means. */
function isPlainDelta(delta: JsonObject, isLegacy: boolean): boolean {
  const hasPlainContent =
    delta.content === undefined || delta.content === null || typeof delta.content === 'string';
  const hasOddThoughts = delta.reasoning_content !== undefined && delta.reasoning_content !== null;
  const hasLegacyCall = !isLegacy && delta.function_call !== undefined && delta.function_call !== null;
  const calls = delta.tool_calls;
  const hasPlainCalls =
    calls === undefined || calls === null || (Array.isArray(calls) && calls.every(isPlainCall));
  return hasPlainContent && !hasOddThoughts && !hasLegacyCall && hasPlainCalls;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

/** A call that begins has an id, a type and a name; a call that goes on has neither name nor another type. */
function isPlainCall(call: unknown): boolean {
  if (!isJsonObject(call) || typeof call.index !== 'number') return false;
  const body = objectAt(call, 'function') ?? objectAt(call, 'custom');
  const begins = textAt(body, 'name') !== undefined;
  if (begins) return textAt(call, 'id') !== undefined && textAt(call, 'type') !== undefined;
  return body?.name === undefined;
}
