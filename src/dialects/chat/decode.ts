import { GatewayError } from '../../ir/errors.ts';
import type { Event, Seal } from '../../ir/events.ts';
import type { ItemStatus, Logprobs } from '../../ir/items.ts';
import { isSameUsage, laterUsage, type Usage } from '../../ir/usage.ts';
import type { Frame } from '../../kit/frames/frames.ts';
import { stringifyExactly } from '../../kit/json/exact-numbers.ts';
import { isJsonObject, JSON_LIMITS, type Json, type JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '../../kit/json/members.ts';
import type { DecodeContext, StreamDecoder } from '../dialect.ts';
import { BrokenAnswer, endedEarly, unreadableAnswer } from '../shared/answers/broken-answers.ts';
import { idSeedOf } from '../shared/answers/made-ids.ts';
import { readFrame } from '../shared/answers/read-frame.ts';
import { relayedBody } from '../shared/answers/relayed-body.ts';
import { RepeatedFrames, RepeatedRelay } from '../shared/answers/repeated-frames.ts';
import { flatNames } from '../shared/tools/tool-names.ts';
import { asChatBody, asChatChunk } from './cohere.ts';
import { ToolCallReader } from './decode-calls.ts';
import { ItemWriter, SentThoughts } from './decode-content.ts';
import { failureOf } from './error.ts';
import { FAILURE_REASONS, readFinish } from './finish.ts';
import { hosted } from './hosted-tools.ts';
import { readUsage, usageObjectIn } from './usage.ts';
import { DONE } from './wire.ts';

/**
 * Decodes one upstream stream. `finish_reason` announces the end and the end marker completes it, because usage may
 * follow the reason and may be repeated.
 */
export function createDecoder(context: DecodeContext): StreamDecoder {
  const reader = new AnswerReader(context);
  const numbers = context.request.exactNumbers;
  const isCohere = context.quirks?.answerForm === 'cohere';
  const repeated = new RepeatedFrames('content', contentIn);
  return {
    decode(frame: Frame): Event[] {
      if (reader.isEnded) return [];
      const text = repeated.textIn(frame);
      if (text !== undefined) {
        const events = reader.readText(text);
        if (!context.relay) return events;
        return [new RepeatedRelay('chat', frame, events, repeated.template, numbers)];
      }
      if (frame.data.trim() === DONE) return reader.finish();
      const given = readFrame(frame, JSON_LIMITS, numbers);
      if (given === undefined) return [];
      if (given instanceof GatewayError) return reader.miss(given);
      const value = isCohere ? asChatChunk(given) : given;
      const events = reader.read(value);
      if (value === given) repeated.note(frame, value, events);
      if (!context.relay) return events;
      const shown = value === given ? frame : { data: stringifyExactly(value, numbers) };
      return [{ type: 'relay', dialect: 'chat', frame: shown, value, events, template: repeated.template }];
    },
    end: () => reader.cut(),
  };
}

// --- The answer -----------------------------------------------------------------------------------------------------

/** Upstream ids and times that may become part of our ids. */
const UPSTREAM_ID = /^[\w.:-]{1,128}$/;

/**
 * Reads one answer, chunk by chunk; a whole body is an answer in one chunk. Never throws: skips what it cannot read.
 * After a terminal event it reads nothing more.
 */
class AnswerReader {
  readonly #writer = new ItemWriter();
  readonly #context: DecodeContext;
  /** Created on demand: most answers have neither calls nor thoughts. */
  #calls: ToolCallReader | undefined;
  #thoughts: SentThoughts | undefined;
  /** Actions that wait for calls to end: other items do not overlap with calls. */
  #waiting: (() => void)[] = [];
  #isStarted = false;
  #isEnded = false;
  /** Seed of ids that we make: constant in an answer, different in the next one. */
  #idSeed: string;
  #finishWord: string | undefined;
  #nativeWord: string | undefined;
  #serviceTier: string | undefined;
  #fingerprint: string | undefined;
  #usage: Usage | undefined;
  #searched: boolean | undefined;

  constructor(context: DecodeContext) {
    this.#context = context;
    this.#idSeed = idSeedOf(context);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Decodes a chunk. A whole body has `message` instead of `delta`. */
  read(chunk: JsonObject): Event[] {
    if (this.#isEnded) return [];
    this.#readHead(chunk);
    const choice = choiceIn(chunk);
    const delta = deltaIn(choice);
    if (delta !== undefined) this.#readDelta(delta, logprobsIn(choice));
    this.#readEnd(chunk, choice);
    return this.#writer.take();
  }

  /** Decodes a chunk that repeats the last one with another text. */
  readText(content: string): Event[] {
    this.#readWords(content, undefined);
    return this.#writer.take();
  }

  /** The upstream has ended the answer. */
  finish(): Event[] {
    if (this.#isEnded) return [];
    if (this.#finishWord === undefined && this.#writer.count === 0) {
      return this.fail(new BrokenAnswer('The provider sent an empty answer'));
    }
    this.#isEnded = true;
    const reason = readFinish(this.#finishWord, {
      hasCalls: this.#calls?.hasCalls ?? false,
      hasRefusal: this.#writer.hasRefusal,
    });
    const lastStatus = reason === 'length' || reason === 'content-filter' ? 'incomplete' : 'completed';
    this.#closeAll(lastStatus);
    const nativeReason = this.#nativeWord ?? this.#finishWord;
    this.#writer.emit({
      type: 'finish',
      reason,
      ...(nativeReason !== undefined && { nativeReason }),
      ...(this.#serviceTier !== undefined && { serviceTier: this.#serviceTier }),
      ...(this.#fingerprint !== undefined && { ext: { chat: { system_fingerprint: this.#fingerprint } } }),
    });
    return this.#writer.take();
  }

  /** The bytes have ended without an end marker. */
  cut(): Event[] {
    if (this.#isEnded) return [];
    return this.#finishWord === undefined ? this.fail(endedEarly()) : this.finish();
  }

  /** A chunk was lost. After the finish reason it cannot have had content. */
  miss(error: GatewayError): Event[] {
    return this.#finishWord === undefined ? this.fail(error) : [];
  }

  fail(error: GatewayError): Event[] {
    this.#isEnded = true;
    this.#writer.emit({ type: 'failure', error });
    return this.#writer.take();
  }

  // --- Start and end ------------------------------------------------------------------------------------------------

  #readHead(chunk: JsonObject): void {
    this.#serviceTier = textAt(chunk, 'service_tier') ?? this.#serviceTier;
    this.#fingerprint = textAt(chunk, 'system_fingerprint') ?? this.#fingerprint;
    if (this.#isStarted) return;
    this.#isStarted = true;
    const [id, model] = [textAt(chunk, 'id'), textAt(chunk, 'model')];
    const idSeed = id ?? String(numberAt(chunk, 'created') ?? '');
    if (UPSTREAM_ID.test(idSeed)) this.#idSeed = idSeed;
    this.#writer.emit({
      type: 'start',
      ...(id !== undefined && { upstreamId: id }),
      ...(model !== undefined && { upstreamModel: model }),
    });
  }

  #readEnd(chunk: JsonObject, choice: JsonObject | undefined): void {
    this.#finishWord ??= textAt(choice, 'finish_reason');
    this.#nativeWord ??= textAt(choice, 'native_finish_reason');
    this.#readUsage(chunk);
    const error = errorIn(chunk) ?? errorIn(choice);
    const isFailed = this.#finishWord !== undefined && FAILURE_REASONS.has(this.#finishWord);
    if (error === undefined && !isFailed) return;
    this.#isEnded = true;
    this.#writer.emit({ type: 'failure', error: failureOf(error ?? this.#finishWord) });
  }

  #readUsage(chunk: JsonObject): void {
    const object = usageObjectIn(chunk);
    const usage = object === undefined ? undefined : readUsage(object, this.#hasSearch());
    if (usage === undefined) return;
    const known = laterUsage(this.#usage, usage);
    if (isSameUsage(this.#usage, known)) return;
    this.#usage = known;
    this.#writer.emit({ type: 'usage', usage: known });
  }

  /** True if the request has the upstream search. Asked for once an answer. */
  #hasSearch(): boolean {
    this.#searched ??= hosted
      .asked(this.#context.request)
      .some(({ units }) => units?.web_search !== undefined);
    return this.#searched;
  }

  // --- Content ------------------------------------------------------------------------------------------------------

  #readDelta(delta: JsonObject, logprobs: Logprobs | undefined): void {
    const calls = objectsAt(delta, 'tool_calls');
    const details = objectsAt(delta, 'reasoning_details');
    const [ofCalls, ofThoughts] = calls.length === 0 ? [[], details] : divided(details, calls);
    this.#readThoughts(delta, ofThoughts);
    this.#readContent(delta.content, logprobs);
    for (const value of objectsAt(delta, 'annotations')) this.#whenFree(() => this.#writer.annotate(value));
    const refusal = textAt(delta, 'refusal');
    if (refusal !== undefined) this.#whenFree(() => this.#writer.writeText('refusal', refusal, logprobs));
    for (const image of objectsAt(delta, 'images')) this.#whenFree(() => this.#writer.writeImage(image));
    const audio = objectAt(delta, 'audio');
    if (audio !== undefined) this.#whenFree(() => this.#writer.writeAudio(audio));
    for (const call of calls) this.#callReader().read(call);
    for (const detail of ofCalls) this.#readDetail(detail);
    const legacy = objectAt(delta, 'function_call');
    if (legacy !== undefined) this.#callReader().readLegacy(legacy);
  }

  #readContent(content: Json | undefined, logprobs: Logprobs | undefined): void {
    if (typeof content === 'string') {
      if (content !== '') this.#readWords(content, logprobs);
      return;
    }
    if (!Array.isArray(content)) return;
    for (const part of content.filter(isJsonObject)) this.#readContentPart(part, logprobs);
  }

  /** The hot path of a stream: makes no closure unless the text has to wait. */
  #readWords(text: string, logprobs: Logprobs | undefined): void {
    if (this.#mustWait()) this.#waitToWrite(text, logprobs);
    else this.#writer.writeText('text', text, logprobs);
  }

  #waitToWrite(text: string, logprobs: Logprobs | undefined): void {
    this.#waiting.push(() => this.#writer.writeText('text', text, logprobs));
  }

  #readContentPart(part: JsonObject, logprobs: Logprobs | undefined): void {
    switch (part.type) {
      case 'text':
      case 'output_text': {
        const text = textAt(part, 'text');
        if (text !== undefined) this.#readWords(text, logprobs);
        return;
      }
      case 'thinking': {
        const text = thinkingText(part.thinking);
        if (text !== '') this.#whenFree(() => this.#writer.writeThought('thought', text));
        return;
      }
      case 'refusal': {
        const refusal = textAt(part, 'refusal');
        if (refusal !== undefined) this.#whenFree(() => this.#writer.writeText('refusal', refusal, logprobs));
        return;
      }
      case 'image_url':
        this.#whenFree(() => this.#writer.writeImage(part));
        return;
      default:
        return;
    }
  }

  /**
   * Many upstreams send thoughts twice, as plain text and as details. If one chunk has both and neither is ahead of the
   * other, only the details are read; otherwise `SentThoughts` finds the new text in each.
   */
  #readThoughts(delta: JsonObject, details: readonly JsonObject[]): void {
    const hasText = details.some(
      (detail) => textAt(detail, 'text') !== undefined || textAt(detail, 'summary') !== undefined,
    );
    const plain = textAt(delta, 'reasoning') ?? textAt(delta, 'reasoning_content');
    const isRepeated = plain !== undefined && hasText && (this.#thoughts?.isInStep ?? true);
    if (plain !== undefined && !hasText) this.#readPlainThought(plain);
    for (const detail of details) this.#readDetail(detail, isRepeated);
    if (plain !== undefined && hasText && !isRepeated) this.#readPlainThought(plain);
  }

  #readPlainThought(text: string): void {
    const news = this.#sentThoughts().newsIn(text, 'plain');
    if (news !== '') this.#whenFree(() => this.#writer.writeThought('thought', news));
  }

  /** The part of a detail's text that the plain text has not sent. `isRepeated`: the same chunk has both. */
  #newsIn(detail: JsonObject, member: 'text' | 'summary', isRepeated: boolean): string | undefined {
    const text = textAt(detail, member);
    if (text === undefined || isRepeated) return text;
    const news = this.#sentThoughts().newsIn(text, 'details');
    return news === '' ? undefined : news;
  }

  #readDetail(detail: JsonObject, isRepeated = false): void {
    const sealOfCall = textAt(detail, 'data');
    const item = this.#calls?.itemOf(textAt(detail, 'id') ?? '');
    if (item !== undefined && sealOfCall !== undefined) {
      const seal: Seal = { signature: sealOfCall, ...formatOf(detail), givenBy: 'chat' };
      this.#writer.emit({ type: 'seal', item, seal });
      return;
    }
    const text = this.#newsIn(detail, 'text', isRepeated);
    const summary = this.#newsIn(detail, 'summary', isRepeated);
    const seal = sealIn(detail);
    if (text === undefined && summary === undefined && seal === undefined) {
      this.#writer.noteFormat(detail);
      return;
    }
    this.#whenFree(() => {
      if (text !== undefined) this.#writer.writeThought('thought', text, detail);
      if (summary !== undefined) this.#writer.writeThought('summary', summary, detail);
      if (seal !== undefined) this.#writer.writeSeal(seal, detail);
    });
  }

  #callReader(): ToolCallReader {
    this.#calls ??= callReader(this.#context, this.#writer, () => this.#idSeed);
    return this.#calls;
  }

  #sentThoughts(): SentThoughts {
    this.#thoughts ??= new SentThoughts();
    return this.#thoughts;
  }

  // --- Order of items -----------------------------------------------------------------------------------------------

  /** Runs an action once no call is open. A relayed chunk is forwarded at once, so its events are too. */
  #whenFree(action: () => void): void {
    if (this.#mustWait()) this.#waiting.push(action);
    else action();
  }

  /** True if items other than calls have to wait now. */
  #mustWait(): boolean {
    if (this.#calls === undefined) return false;
    if (this.#waiting.length === 0) this.#calls.endComplete();
    const isBusy = this.#waiting.length > 0 || this.#calls.hasOpenCalls;
    return isBusy && !this.#context.relay;
  }

  #closeAll(lastStatus: ItemStatus): void {
    const isCallLast = !this.#writer.isWriting && this.#waiting.length === 0;
    this.#calls?.endAll(isCallLast ? lastStatus : 'completed');
    for (const action of this.#waiting.splice(0)) action();
    this.#writer.close(lastStatus);
  }
}

function callReader(
  { relay, request }: DecodeContext,
  writer: ItemWriter,
  idSeed: () => string,
): ToolCallReader {
  return new ToolCallReader({
    emit: (event) => writer.emit(event),
    beginItem: () => writer.beginItem(),
    // A relayed answer names the tools as the caller declared them.
    identify: relay ? (name) => ({ kind: 'function', name }) : flatNames(request).identify,
    makeId: (position) => `call_${idSeed()}_${position}`,
    numbers: request.exactNumbers,
  });
}

/** The text that a chunk adds to the message, if it adds nothing else. */
export function contentIn(chunk: JsonObject): Json | undefined {
  const { content, role: _, ...others } = deltaIn(choiceIn(chunk)) ?? {};
  return Object.values(others).every(isNothing) ? content : undefined;
}

function isNothing(member: Json | undefined): boolean {
  return member === null || member === '' || (Array.isArray(member) && member.length === 0);
}

/** Details that seal calls, and those of thoughts. */
function divided(
  details: readonly JsonObject[],
  calls: readonly JsonObject[],
): [ofCalls: readonly JsonObject[], ofThoughts: readonly JsonObject[]] {
  const callIds = new Set(calls.flatMap((call) => textAt(call, 'id') ?? []));
  const isOfCall = (detail: JsonObject) => callIds.has(textAt(detail, 'id') ?? '');
  return [details.filter(isOfCall), details.filter((detail) => !isOfCall(detail))];
}

function choiceIn(chunk: JsonObject): JsonObject | undefined {
  return objectsAt(chunk, 'choices').find(({ index }) => (index ?? 0) === 0);
}

function deltaIn(choice: JsonObject | undefined): JsonObject | undefined {
  return objectAt(choice, 'delta') ?? objectAt(choice, 'message');
}

function logprobsIn(choice: JsonObject | undefined): Logprobs | undefined {
  const logprobs = objectAt(choice, 'logprobs');
  if (logprobs === undefined) return undefined;
  const entries = [...objectsAt(logprobs, 'content'), ...objectsAt(logprobs, 'refusal')];
  return entries.length > 0 ? entries : undefined;
}

/** An error in place of an answer; an empty one does not count. */
function errorIn(object: JsonObject | undefined): Json | undefined {
  const error = object?.error;
  if (error !== undefined && error !== null && error !== '' && error !== false) return error;
  return object?.object === 'error' ? object : undefined;
}

function thinkingText(thinking: Json | undefined): string {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return '';
  return thinking.map((part) => (isJsonObject(part) ? (textAt(part, 'text') ?? '') : '')).join('');
}

function sealIn(detail: JsonObject): Seal | undefined {
  const signature = textAt(detail, 'signature');
  const encrypted = textAt(detail, 'data');
  if (signature === undefined && encrypted === undefined) return undefined;
  return { ...(signature !== undefined && { signature }), ...(encrypted !== undefined && { encrypted }) };
}

function formatOf(detail: JsonObject): { format?: string } {
  const format = textAt(detail, 'format');
  return format === undefined ? {} : { format };
}

// --- Whole bodies ---------------------------------------------------------------------------------------------------

export function decodeBody(body: JsonObject, context: DecodeContext): Event[] {
  const value = context.quirks?.answerForm === 'cohere' ? asChatBody(body) : body;
  return relayedBody('chat', value, readBody(value, context), context);
}

function readBody(body: JsonObject, context: DecodeContext): Event[] {
  const reader = new AnswerReader(context);
  const events = reader.read(body);
  if (reader.isEnded) return events;
  const hasMessage = objectsAt(body, 'choices').some((choice) => objectAt(choice, 'message') !== undefined);
  return events.concat(hasMessage ? reader.finish() : reader.fail(unreadableAnswer()));
}
