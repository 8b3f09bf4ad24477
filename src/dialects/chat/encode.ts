import type { Event, EventBatch, Failure, Finish, ItemHead } from '../../ir/events.ts';
import type { ToolKind } from '../../ir/items.ts';
import { writeSseComment, writeSseFrame } from '../../kit/frames/sse.ts';
import { stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { JsonTemplate } from '../../kit/json/json-template.ts';
import { layOver } from '../../kit/json/lay-over.ts';
import { membersBeyond, objectAt, objectsAt } from '../../kit/json/members.ts';
import type { ReplyContext, StreamEncoder } from '../dialect.ts';
import { errorObject } from '../shared/answers/error-envelope.ts';
import { THOUGHT_SEPARATOR } from '../shared/reasoning/thoughts-as-text.ts';
import { flatArguments } from '../shared/tools/tool-names.ts';
import { contentIn } from './decode.ts';
import { callHead, callInput, callSeal, isUnexpected, SentCalls, speaksLegacyCalls } from './encode-calls.ts';
import {
  isRefusalText,
  logprobsObject,
  reasoningSeals,
  renderImage,
  SaidLast,
  SentDetails,
  SentText,
} from './encode-content.ts';
import { renderFinish } from './finish.ts';
import { calledName, keptAnswer, type ServerCall } from './kept-calls.ts';
import { renderUsage, usageObjectIn } from './usage.ts';
import { DONE } from './wire.ts';

export function createEncoder(context: ReplyContext): StreamEncoder {
  return new ChatEncoder(context);
}

/** Members of a relayed chunk that the gateway writes itself, or writes at the end. */
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

const RELAY_LANE: ReadonlySet<Event['type']> = new Set(['relay', 'tool-input-delta', 'finish', 'failure']);

class ChatEncoder implements StreamEncoder {
  readonly #context: ReplyContext;
  /** The constant members of a chunk, as unfinished JSON text. */
  #opening: string | undefined;
  readonly #excludesReasoning: boolean;
  readonly #isLegacy: boolean;
  /** True if the caller was sent `tool_calls`: then the finish reason names them, whatever the caller declared. */
  #hasToolCalls = false;
  #hasRole = false;
  #hasRefusal = false;
  #isEnded = false;
  #isRelay = false;
  readonly #heads = new Map<number, ItemHead>();
  /** Created on demand: few answers need it. */
  #calls: SentCalls | undefined;
  #serverCalls: ServerCall[] | undefined;
  #firstCallId: string | undefined;
  /** Text of calls that are written as functions once it is complete. */
  #freeTexts: Map<number, string> | undefined;
  readonly #said = new SentText();
  readonly #saidLast = new SaidLast();
  #details: SentDetails | undefined;
  /** Members of relayed chunks besides their deltas; sent with the last chunk. */
  readonly #held: JsonObject = {};
  #heldUsage: JsonObject | undefined;
  /** Form of a chunk that repeats the last one. */
  #repeated: RepeatedChunk | undefined;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#excludesReasoning = context.request.reasoning?.exclude === true;
    this.#isLegacy = speaksLegacyCalls(context.request);
  }

  encode(batch: EventBatch): string {
    let text = '';
    for (const event of batch) {
      this.#isRelay ||= event.type === 'relay';
      // Relayed chunks have said everything but the end and call input that the upstream left out: of the other events
      // only those are written.
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
      case 'annotation':
        return this.#annotations(
          this.#said.annotate(event.item, event.part, event.annotation, !this.#isRelay),
        );
      case 'part-end':
        return this.#annotations(this.#said.endPart());
      case 'tool-input-delta':
        return this.#callInput(event.item, event.text);
      case 'image-data': {
        const images = renderImage(event);
        if (images.length === 0) return '';
        this.#saidLast.image();
        return this.#delta({ images });
      }
      case 'server-result':
        this.#noteServerCall(event);
        return '';
      case 'seal':
        return this.#seal(event.item, event.seal);
      case 'item-end':
        return this.#freeText(event.item);
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

  /** Callers do not see it: it is kept, in case that the answer ends with calls of theirs. */
  #noteServerCall({ item, output, shown }: Extract<Event, { type: 'server-result' }>): void {
    const head = this.#heads.get(item);
    if (head?.type !== 'server-call' || this.#context.keepItem === undefined) return;
    const { callId, tool, input } = head;
    this.#serverCalls ??= [];
    this.#serverCalls.push({ callId, name: calledName(tool, shown), input, output });
  }

  // --- Content ------------------------------------------------------------------------------------------------------

  #beginItem(item: number, head: ItemHead): string {
    this.#heads.set(item, head);
    if (head.type === 'opaque') return head.item.dialect === 'chat' ? this.#delta(head.item.value) : '';
    if (head.type !== 'tool-call') return '';
    this.#firstCallId ??= head.callId;
    const index = this.#sentCalls().begin(item, head);
    const isHeld = !this.#isRelay && isUnexpected(head, this.#context.request);
    if (isHeld) this.#holdText(item, '');
    const shown = isHeld ? { ...head, kind: 'function' as const } : head;
    return this.#delta({ tool_calls: [{ index, ...callHead(shown), ...head.ext?.chat }] });
  }

  #callInput(item: number, text: string): string {
    const head = this.#heads.get(item);
    if (head?.type !== 'tool-call') return '';
    const held = this.#freeTexts?.get(item);
    if (held === undefined) return this.#writeInput(item, head.kind, text);
    this.#holdText(item, held + text);
    return '';
  }

  #holdText(item: number, text: string): void {
    this.#freeTexts ??= new Map();
    this.#freeTexts.set(item, text);
  }

  #freeText(item: number): string {
    const input = this.#freeTexts?.get(item);
    if (input === undefined) return '';
    this.#freeTexts?.delete(item);
    return this.#writeInput(item, 'function', flatArguments({ kind: 'custom', input }));
  }

  #writeInput(item: number, kind: ToolKind, text: string): string {
    const index = this.#calls?.indexOf(item);
    if (index === undefined) return '';
    const isLegacy = this.#isLegacy && this.#isRelay;
    if (!isLegacy) this.#hasToolCalls = true;
    return this.#delta(
      isLegacy
        ? { function_call: { arguments: text } }
        : { tool_calls: [{ index, ...callInput(kind, text) }] },
    );
  }

  #text(event: Extract<Event, { type: 'text-delta' }>): string {
    switch (event.kind) {
      case 'text':
        this.#said.add(event.item, event.part, event.text);
        this.#saidLast.words();
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
      index: this.#sentDetails().indexOf(item, part, kind),
    };
    const isFurtherPart = this.#sentDetails().turnTo(item, part, kind);
    const reasoning = isFurtherPart ? THOUGHT_SEPARATOR + text : text;
    return this.#delta({ reasoning, reasoning_details: [detail] });
  }

  #annotations(annotations: readonly JsonObject[]): string {
    return annotations.length === 0 ? '' : this.#delta({ annotations: [...annotations] });
  }

  #seal(item: number, seal: Extract<Event, { type: 'seal' }>['seal']): string {
    const head = this.#heads.get(item);
    if (head?.type === 'tool-call') return this.#delta({ reasoning_details: [callSeal(head.callId, seal)] });
    if (this.#excludesReasoning) return '';
    const index = this.#sentDetails().lastIndexOf(item);
    const details = reasoningSeals(seal, this.#reasoningId(item), index, this.#saidLast.last);
    return details.length === 0 ? '' : this.#delta({ reasoning_details: details });
  }

  #reasoningId(item: number): string | undefined {
    const head = this.#heads.get(item);
    return head?.type === 'reasoning' ? head.id : undefined;
  }

  #areCallsSaid(entries: Json | undefined, events: readonly Event[]): boolean {
    return entries === undefined || entries === null || this.#sentCalls().areSaidBy(entries, events);
  }

  #sentDetails(): SentDetails {
    this.#details ??= new SentDetails();
    return this.#details;
  }

  #sentCalls(): SentCalls {
    this.#calls ??= new SentCalls();
    return this.#calls;
  }

  // --- Chunks -------------------------------------------------------------------------------------------------------

  #delta(delta: JsonObject, logprobs: JsonObject | null = null): string {
    return this.#role() + this.#chunk(delta, logprobs);
  }

  /** The first chunk has the role. */
  #role(): string {
    if (this.#hasRole) return '';
    this.#hasRole = true;
    return this.#chunk({ role: 'assistant', content: '' }, null);
  }

  #chunk(delta: JsonObject, logprobs: JsonObject | null): string {
    this.#opening ??= JSON.stringify(chunkHead(this.#context)).slice(0, -1);
    const choice = `{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":null,"native_finish_reason":null,"logprobs":${JSON.stringify(logprobs)}}`;
    return writeSseFrame(`${this.#opening},"choices":[${choice}]}`);
  }

  // --- Relay --------------------------------------------------------------------------------------------------------

  /** An upstream chunk with its own delta; everything that belongs to the end is held back. */
  #relay(event: Extract<Event, { type: 'relay' }>): string {
    const { template } = event;
    if (template !== undefined && template === this.#repeated?.upstream) {
      return this.#repeat(event.events[0], this.#repeated);
    }
    this.#repeated = undefined;
    const inner = event.events.filter(({ type }) => type !== 'finish' && type !== 'failure');
    if (event.dialect !== 'chat' || event.whole === true) return this.#encodeAll(inner);
    this.#hold(event.value);
    const choice = objectsAt(event.value, 'choices').find(({ index }) => (index ?? 0) === 0);
    const delta = objectAt(choice, 'delta');
    const isReadable = delta !== undefined && isPlainDelta(delta, this.#isLegacy);
    if (choice === undefined || !isReadable || !this.#areCallsSaid(delta.tool_calls, inner)) {
      return this.#encodeAll(inner);
    }
    this.#note(inner);
    const shown = membersBeyond(delta, this.#excludesReasoning ? REASONING_FIELDS : NO_FIELDS) ?? {};
    if (Array.isArray(shown.tool_calls) && shown.tool_calls.length > 0) this.#hasToolCalls = true;
    const says = Object.entries(shown).some(([name, value]) => name !== 'role' && !isEmpty(value));
    if (!says && (this.#hasRole || typeof choice.finish_reason === 'string')) return '';
    const role = this.#hasRole ? {} : { role: 'assistant' };
    const repeats = template !== undefined && this.#hasRole;
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
    const chunk = stringifyExactly(patched, this.#context.request.exactNumbers);
    if (repeats) this.#repeated = repeatedChunk(template, chunk);
    return writeSseFrame(chunk);
  }

  /** A chunk that repeats the last one with another text. */
  #repeat(delta: Event | undefined, { chunk }: RepeatedChunk): string {
    if (delta?.type !== 'text-delta') return '';
    this.#said.add(delta.item, delta.part, delta.text);
    return writeSseFrame(chunk.write(delta.text));
  }

  #hold(value: JsonObject): void {
    layOver(this.#held, membersBeyond(value, OWN_CHUNK_FIELDS) ?? {});
    this.#heldUsage = usageObjectIn(value) ?? this.#heldUsage;
  }

  /** Tracks the content of a forwarded chunk, in case a later one must be rewritten. */
  #note(events: readonly Event[]): void {
    for (const event of events) {
      if (isRefusalText(event)) this.#hasRefusal = true;
      if (event.type === 'text-delta' && event.kind === 'text') {
        this.#said.add(event.item, event.part, event.text);
      }
      if (event.type === 'text-delta' && (event.kind === 'thought' || event.kind === 'summary')) {
        this.#sentDetails().indexOf(event.item, event.part, event.kind);
        this.#sentDetails().turnTo(event.item, event.part, event.kind);
      }
      if (event.type !== 'item-start') continue;
      this.#heads.set(event.item, event.head);
      if (event.head.type === 'tool-call') this.#sentCalls().begin(event.item, event.head);
    }
  }

  // --- The end ------------------------------------------------------------------------------------------------------

  #finish(finish: Finish): string {
    const { settled } = finish;
    const { keepItem, request } = this.#context;
    const kept = keptAnswer(request.body, this.#serverCalls ?? [], this.#firstCallId);
    if (kept !== undefined) keepItem?.(kept);
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
          finish_reason: renderFinish(finish, {
            hasRefusal: this.#hasRefusal,
            isLegacy: this.#isLegacy && !this.#hasToolCalls,
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
    return writeSseFrame(stringifyExactly(chunk, this.#context.request.exactNumbers)) + writeSseFrame(DONE);
  }
}

/** Form of upstream chunks with one template. */
interface RepeatedChunk {
  readonly upstream: JsonTemplate;
  readonly chunk: JsonTemplate;
}

function repeatedChunk(upstream: JsonTemplate, written: string): RepeatedChunk | undefined {
  const chunk = JsonTemplate.of(written, 'content', contentIn);
  return chunk && { upstream, chunk };
}

function chunkHead(context: ReplyContext): JsonObject {
  return {
    id: context.generationId,
    object: 'chat.completion.chunk',
    created: Math.floor(context.createdAtMs / 1000),
    model: context.model,
    // If a stream fails before an endpoint answered, there is no provider.
    ...(context.provider !== '' && { provider: context.provider }),
  };
}

export function metadataOf(context: ReplyContext, metadata: object | undefined): JsonObject {
  return metadata === undefined ? {} : { [`${context.vendor}_metadata`]: { ...metadata } };
}

/** True if every client can read the delta unchanged; otherwise it is rewritten from its events. */
function isPlainDelta(delta: JsonObject, isLegacy: boolean): boolean {
  const hasPlainContent =
    delta.content === undefined || delta.content === null || typeof delta.content === 'string';
  const hasOddThoughts = delta.reasoning_content !== undefined && delta.reasoning_content !== null;
  const hasLegacyCall = !isLegacy && delta.function_call !== undefined && delta.function_call !== null;
  return hasPlainContent && !hasOddThoughts && !hasLegacyCall;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}
