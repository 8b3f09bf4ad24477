import { GatewayError } from '../../ir/errors.ts';
import type { Event, PartKind, Seal } from '../../ir/events.ts';
import type { ItemStatus, Logprobs } from '../../ir/items.ts';
import type { Usage } from '../../ir/usage.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import type { DecodeContext } from '../dialect.ts';
import { toolIdentities } from '../tool-names.ts';
import { readAnnotation } from './annotation.ts';
import { failureOf } from './error.ts';
import { FAILURE_REASONS, readFinishReason } from './finish-reason.ts';
import { numberIn, objectIn, objectsIn, textIn } from './members.ts';
import { ToolCallReader } from './read-tool-calls.ts';
import { DetailGroup } from './reasoning-details.ts';
import { parseUrl } from './source.ts';
import { readUsage, usageObjectIn } from './usage.ts';

/** The part that is being written. */
interface OpenPart {
  readonly kind: PartKind;
  readonly part: number;
  /** Place of the part in the upstream's `reasoning_details`. */
  readonly index: number | undefined;
}

interface OpenMessage {
  readonly type: 'message';
  readonly item: number;
  readonly parts: Parts;
}

interface OpenReasoning {
  readonly type: 'reasoning';
  readonly item: number;
  readonly parts: Parts;
  readonly group: DetailGroup;
  format: string | undefined;
  isSealed: boolean;
}

interface OpenAudio {
  readonly type: 'audio';
  readonly item: number;
  value: JsonObject;
}

/** The parts of an open item: the one that is being written, and how many there were. Summaries count apart. */
interface Parts {
  current: OpenPart | undefined;
  readonly counts: { main: number; summary: number };
}

/** The item that is being written; tool calls are kept apart because they may interleave. */
type OpenItem = OpenMessage | OpenReasoning | OpenAudio;

const UPSTREAM_ID = /^[\w.:-]{1,128}$/;

/**
 * Reads one answer, chunk by chunk; a whole body is an answer in one chunk. Never throws: what it cannot read, it
 * skips. After a terminal event it reads nothing more.
 */
export class AnswerReader {
  readonly #calls: ToolCallReader;
  #events: Event[] = [];
  #items = 0;
  #open: OpenItem | undefined;
  /** What came while calls were unfinished: items other than calls do not overlap, so it waits. */
  #waiting: (() => void)[] = [];
  #isStarted = false;
  #isEnded = false;
  #hasRefusal = false;
  #upstreamId: string | undefined;
  #finishWord: string | undefined;
  #nativeWord: string | undefined;
  #serviceTier: string | undefined;
  #fingerprint: string | undefined;
  #usage: Usage | undefined;

  constructor(context: DecodeContext) {
    const identify = toolIdentities(context.request);
    this.#calls = new ToolCallReader({
      emit: (event) => this.#emit(event),
      beginItem: () => this.#beginItem(),
      // A relayed answer speaks of the tools as the caller declared them.
      identify: context.relay ? (name) => ({ kind: 'function', name }) : identify,
      makeId: (position) => `call_${this.#upstreamId ?? 'upstream'}_${position}`,
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What a chunk means. A whole body is given with `message` instead of `delta`. */
  read(chunk: JsonObject): Event[] {
    if (this.#isEnded) return [];
    this.#readHead(chunk);
    const choice = objectsIn(chunk, 'choices').find(({ index }) => (index ?? 0) === 0);
    const delta = objectIn(choice, 'delta') ?? objectIn(choice, 'message');
    if (delta !== undefined) this.#readDelta(delta, logprobsIn(choice));
    this.#readEnd(chunk, choice);
    return this.#take();
  }

  /** The upstream says that this was all. */
  finish(): Event[] {
    if (this.#isEnded) return [];
    if (this.#finishWord === undefined && this.#items === 0) {
      return this.fail(new GatewayError('upstream-unavailable', 'The provider sent an empty answer'));
    }
    this.#isEnded = true;
    const reason = readFinishReason(this.#finishWord, {
      hasCalls: this.#calls.hasCalls,
      hasRefusal: this.#hasRefusal,
    });
    const lastStatus = reason === 'length' || reason === 'content-filter' ? 'incomplete' : 'completed';
    this.#closeAll(lastStatus);
    const nativeReason = this.#nativeWord ?? this.#finishWord;
    this.#emit({
      type: 'finish',
      reason,
      ...(nativeReason !== undefined && { nativeReason }),
      ...(this.#serviceTier !== undefined && { serviceTier: this.#serviceTier }),
      ...(this.#fingerprint !== undefined && { ext: { chat: { system_fingerprint: this.#fingerprint } } }),
    });
    return this.#take();
  }

  /** The bytes have ended without a word that this was all. */
  cut(): Event[] {
    if (this.#isEnded) return [];
    return this.#finishWord !== undefined
      ? this.finish()
      : this.fail(
          new GatewayError(
            'upstream-unavailable',
            'The provider ended the stream before the answer was complete',
          ),
        );
  }

  fail(error: GatewayError): Event[] {
    this.#isEnded = true;
    this.#emit({ type: 'failure', error });
    return this.#take();
  }

  // --- Head and end --------------------------------------------------------------------------------------------------

  #readHead(chunk: JsonObject): void {
    this.#serviceTier = textIn(chunk, 'service_tier') ?? this.#serviceTier;
    this.#fingerprint = textIn(chunk, 'system_fingerprint') ?? this.#fingerprint;
    if (this.#isStarted) return;
    this.#isStarted = true;
    const [id, model] = [textIn(chunk, 'id'), textIn(chunk, 'model')];
    this.#upstreamId = id !== undefined && UPSTREAM_ID.test(id) ? id : undefined;
    this.#emit({
      type: 'start',
      ...(id !== undefined && { upstreamId: id }),
      ...(model !== undefined && { upstreamModel: model }),
    });
  }

  #readEnd(chunk: JsonObject, choice: JsonObject | undefined): void {
    this.#finishWord ??= textIn(choice, 'finish_reason');
    this.#nativeWord ??= textIn(choice, 'native_finish_reason');
    this.#readUsage(chunk);
    const error = errorIn(chunk) ?? errorIn(choice);
    const isFailed = this.#finishWord !== undefined && FAILURE_REASONS.has(this.#finishWord);
    if (error === undefined && !isFailed) return;
    this.#isEnded = true;
    this.#emit({ type: 'failure', error: failureOf(error ?? this.#finishWord) });
  }

  #readUsage(chunk: JsonObject): void {
    const object = usageObjectIn(chunk);
    const usage = object === undefined ? undefined : readUsage(object);
    if (usage === undefined || (this.#usage !== undefined && isSameUsage(usage, this.#usage))) return;
    this.#usage = usage;
    this.#emit({ type: 'usage', usage });
  }

  // --- Deltas --------------------------------------------------------------------------------------------------------

  #readDelta(delta: JsonObject, logprobs: Logprobs | undefined): void {
    const calls = objectsIn(delta, 'tool_calls');
    const callIds = new Set(calls.flatMap((call) => textIn(call, 'id') ?? []));
    const isOfCall = (detail: JsonObject) => callIds.has(textIn(detail, 'id') ?? '');
    const details = objectsIn(delta, 'reasoning_details');
    this.#readThoughts(
      delta,
      details.filter((detail) => !isOfCall(detail)),
    );
    this.#readContent(delta.content, logprobs);
    for (const value of objectsIn(delta, 'annotations')) this.#whenFree(() => this.#annotate(value));
    const refusal = textIn(delta, 'refusal');
    if (refusal !== undefined) this.#whenFree(() => this.#writeText('refusal', refusal, logprobs));
    for (const image of objectsIn(delta, 'images')) this.#whenFree(() => this.#writeImage(image));
    const audio = objectIn(delta, 'audio');
    if (audio !== undefined) this.#whenFree(() => this.#writeAudio(audio));
    for (const call of calls) this.#calls.read(call);
    for (const detail of details.filter(isOfCall)) this.#readDetail(detail);
    const legacy = objectIn(delta, 'function_call');
    if (legacy !== undefined) this.#calls.readLegacy(legacy);
  }

  #readContent(content: Json | undefined, logprobs: Logprobs | undefined): void {
    if (typeof content === 'string') {
      if (content !== '') this.#whenFree(() => this.#writeText('text', content, logprobs));
      return;
    }
    if (!Array.isArray(content)) return;
    for (const part of content.filter(isJsonObject)) this.#readContentPart(part, logprobs);
  }

  #readContentPart(part: JsonObject, logprobs: Logprobs | undefined): void {
    switch (part.type) {
      case 'text':
      case 'output_text': {
        const text = textIn(part, 'text');
        if (text !== undefined) this.#whenFree(() => this.#writeText('text', text, logprobs));
        return;
      }
      case 'thinking': {
        const text = thinkingText(part.thinking);
        if (text !== '') this.#whenFree(() => this.#writeThought('thought', text));
        return;
      }
      case 'refusal': {
        const refusal = textIn(part, 'refusal');
        if (refusal !== undefined) this.#whenFree(() => this.#writeText('refusal', refusal, logprobs));
        return;
      }
      case 'image_url':
        this.#whenFree(() => this.#writeImage(part));
        return;
      default:
        return;
    }
  }

  /** Details repeat the plain text of thoughts; the plain text counts only where they have none. */
  #readThoughts(delta: JsonObject, details: readonly JsonObject[]): void {
    const hasText = details.some(
      (detail) => textIn(detail, 'text') !== undefined || textIn(detail, 'summary') !== undefined,
    );
    const plain = textIn(delta, 'reasoning') ?? textIn(delta, 'reasoning_content');
    if (plain !== undefined && !hasText) this.#whenFree(() => this.#writeThought('thought', plain));
    for (const detail of details) this.#readDetail(detail);
  }

  #readDetail(detail: JsonObject): void {
    const sealOfCall = textIn(detail, 'data');
    const item = this.#calls.itemOf(textIn(detail, 'id') ?? '');
    if (item !== undefined && sealOfCall !== undefined) {
      this.#emit({ type: 'seal', item, seal: { signature: sealOfCall, ...formatOf(detail) } });
      return;
    }
    const text = textIn(detail, 'text');
    const summary = textIn(detail, 'summary');
    const seal = sealIn(detail);
    if (text === undefined && summary === undefined && seal === undefined) {
      this.#noteFormat(detail);
      return;
    }
    this.#whenFree(() => {
      if (text !== undefined) this.#writeThought('thought', text, detail);
      if (summary !== undefined) this.#writeThought('summary', summary, detail);
      if (seal !== undefined) this.#writeSeal(seal, detail);
    });
  }

  // --- Writing items -------------------------------------------------------------------------------------------------

  /** Runs an action as soon as no call is unfinished. */
  #whenFree(action: () => void): void {
    if (this.#waiting.length === 0) this.#calls.endComplete();
    if (this.#waiting.length > 0 || this.#calls.hasOpenCalls) this.#waiting.push(action);
    else action();
  }

  #beginItem(): number {
    this.#close('completed');
    return this.#items++;
  }

  #writeText(kind: 'text' | 'refusal', text: string, logprobs: Logprobs | undefined): void {
    const message = this.#openMessage();
    const part = this.#partFor(message, kind);
    this.#hasRefusal ||= kind === 'refusal';
    this.#emit({
      type: 'text-delta',
      item: message.item,
      part,
      kind,
      text,
      ...(logprobs !== undefined && { logprobs }),
    });
  }

  #openMessage(): OpenMessage {
    if (this.#open?.type === 'message') return this.#open;
    const message: OpenMessage = { type: 'message', item: this.#beginItem(), parts: noParts() };
    this.#emit({ type: 'item-start', item: message.item, head: { type: 'message' } });
    this.#open = message;
    return message;
  }

  #annotate(value: JsonObject): void {
    const message = this.#openMessage();
    const part = this.#partFor(message, 'text');
    this.#emit({ type: 'annotation', item: message.item, part, annotation: readAnnotation(value) });
  }

  #writeThought(kind: 'thought' | 'summary', text: string, detail: JsonObject = {}): void {
    const reasoning = this.#openReasoning(detail);
    const part = this.#partFor(reasoning, kind, numberIn(detail, 'index'));
    this.#emit({ type: 'text-delta', item: reasoning.item, part, kind, text });
  }

  #writeSeal(seal: Seal, detail: JsonObject): void {
    const reasoning = this.#openReasoning(detail);
    reasoning.isSealed = true;
    this.#emit({ type: 'seal', item: reasoning.item, seal: { ...seal, ...formatOf(detail) } });
  }

  #noteFormat(detail: JsonObject): void {
    const open = this.#open;
    if (open?.type === 'reasoning' && open.group.accepts(detail)) open.format ??= textIn(detail, 'format');
  }

  #openReasoning(detail: JsonObject): OpenReasoning {
    const open = this.#open;
    const reasoning =
      open?.type === 'reasoning' && open.group.accepts(detail) ? open : this.#beginReasoning(detail);
    reasoning.group.take(detail);
    reasoning.format ??= textIn(detail, 'format');
    return reasoning;
  }

  #beginReasoning(detail: JsonObject): OpenReasoning {
    const item = this.#beginItem();
    const id = textIn(detail, 'id');
    this.#emit({
      type: 'item-start',
      item,
      head: id === undefined ? { type: 'reasoning' } : { type: 'reasoning', id },
    });
    const reasoning: OpenReasoning = {
      type: 'reasoning',
      item,
      parts: noParts(),
      group: new DetailGroup(),
      format: undefined,
      isSealed: false,
    };
    this.#open = reasoning;
    return reasoning;
  }

  #writeImage(value: JsonObject): void {
    const url = textIn(objectIn(value, 'image_url'), 'url') ?? textIn(value, 'image_url');
    if (url === undefined) return;
    const item = this.#beginItem();
    this.#emit({ type: 'item-start', item, head: { type: 'image' } });
    this.#emit({ type: 'image-data', item, source: parseUrl(url) });
    this.#emit({ type: 'item-end', item, status: 'completed' });
  }

  /** Audio is not modelled: its pieces pass as they are, the whole of it stands at the end of the item. */
  #writeAudio(audio: JsonObject): void {
    if (this.#open?.type === 'audio') {
      this.#open.value = joinAudio(this.#open.value, audio);
      this.#emit({ type: 'opaque', dialect: 'chat', value: { audio } });
      return;
    }
    const item = this.#beginItem();
    this.#emit({
      type: 'item-start',
      item,
      head: {
        type: 'opaque',
        item: { type: 'opaque', dialect: 'chat', value: { audio }, role: 'assistant' },
      },
    });
    this.#open = { type: 'audio', item, value: audio };
  }

  /** The number of the part to write to; another kind, or another place in the details, begins another part. */
  #partFor(owner: OpenMessage | OpenReasoning, kind: PartKind, index?: number): number {
    const { current, counts } = owner.parts;
    if (current?.kind === kind && current.index === index) return current.part;
    this.#closePart();
    const part = counts[kind === 'summary' ? 'summary' : 'main']++;
    owner.parts.current = { kind, part, index };
    this.#emit({ type: 'part-start', item: owner.item, part, kind });
    return part;
  }

  // --- Closing -------------------------------------------------------------------------------------------------------

  #closePart(): void {
    const open = this.#open;
    if (open === undefined || open.type === 'audio' || open.parts.current === undefined) return;
    const { part, kind } = open.parts.current;
    this.#emit({ type: 'part-end', item: open.item, part, kind });
    open.parts.current = undefined;
  }

  #close(status: ItemStatus): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#closePart();
    this.#open = undefined;
    if (open.type === 'reasoning' && !open.isSealed && open.format !== undefined) {
      this.#emit({ type: 'seal', item: open.item, seal: { format: open.format } });
    }
    const value = open.type === 'audio' ? { value: { audio: open.value } } : {};
    this.#emit({ type: 'item-end', item: open.item, status, ...value });
  }

  #closeAll(lastStatus: ItemStatus): void {
    const isCallLast = this.#open === undefined && this.#waiting.length === 0;
    this.#calls.endAll(isCallLast ? lastStatus : 'completed');
    for (const action of this.#waiting.splice(0)) action();
    this.#close(lastStatus);
  }

  #emit(event: Event): void {
    this.#events.push(event);
  }

  #take(): Event[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

function noParts(): Parts {
  return { current: undefined, counts: { main: 0, summary: 0 } };
}

function logprobsIn(choice: JsonObject | undefined): Logprobs | undefined {
  const logprobs = objectIn(choice, 'logprobs');
  const entries = [...objectsIn(logprobs, 'content'), ...objectsIn(logprobs, 'refusal')];
  return entries.length > 0 ? entries : undefined;
}

/** An error where an answer should be; an empty one says nothing. */
function errorIn(object: JsonObject | undefined): Json | undefined {
  const error = object?.error;
  if (error !== undefined && error !== null && error !== '' && error !== false) return error;
  return object?.object === 'error' ? object : undefined;
}

function thinkingText(thinking: Json | undefined): string {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return '';
  return thinking.map((part) => (isJsonObject(part) ? (textIn(part, 'text') ?? '') : '')).join('');
}

function sealIn(detail: JsonObject): Seal | undefined {
  const signature = textIn(detail, 'signature');
  const encrypted = textIn(detail, 'data');
  if (signature === undefined && encrypted === undefined) return undefined;
  return { ...(signature !== undefined && { signature }), ...(encrypted !== undefined && { encrypted }) };
}

function formatOf(detail: JsonObject): { format?: string } {
  const format = textIn(detail, 'format');
  return format === undefined ? {} : { format };
}

/** Members that arrive in pieces are joined, others replaced. */
function joinAudio(sofar: JsonObject, next: JsonObject): JsonObject {
  const joined: JsonObject = { ...sofar, ...next };
  for (const member of ['data', 'transcript']) {
    const text = (textIn(sofar, member) ?? '') + (textIn(next, member) ?? '');
    if (text !== '') joined[member] = text;
  }
  return joined;
}

function isSameUsage(one: Usage, other: Usage): boolean {
  return (Object.keys(one) as (keyof Usage)[]).every((name) => one[name] === other[name]);
}
