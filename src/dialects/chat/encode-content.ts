import type { Event, Seal } from '../../ir/events.ts';
import type { Annotation, ImageItem, Item, Logprobs, Part, ReasoningItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { layOver } from '../../kit/json/lay-over.ts';
import { compact } from '../../kit/json/members.ts';
import { renderUrl } from '../shared/media/data-url.ts';
import { THOUGHT_SEPARATOR } from '../shared/reasoning/thoughts-as-text.ts';
import { renderAnnotation } from './citations.ts';
import { callSeal, renderToolCall } from './encode-calls.ts';
import { type Followed, indexesOf, renderReasoningDetails } from './reasoning.ts';

/** Pieces of an answer in the chat format, shared by streams and bodies. */

// --- Items ----------------------------------------------------------------------------------------------------------

/** A whole answer as one assistant message. */
export function renderMessage(items: readonly Item[], excludesReasoning: boolean): JsonObject {
  const parts: Part[] = [];
  const calls: JsonObject[] = [];
  const images: JsonObject[] = [];
  const opaque: JsonObject[] = [];
  for (const item of items) {
    if (item.type === 'message') for (const part of item.content) parts.push(part);
    else if (item.type === 'tool-call') calls.push(renderToolCall(item, calls.length));
    else if (item.type === 'image') for (const image of renderImage(item)) images.push(image);
    else if (item.type === 'opaque' && item.dialect === 'chat') opaque.push(item.value);
  }
  const message = renderWords(parts, calls.length + images.length > 0);
  addThoughts(message, items, excludesReasoning);
  if (calls.length > 0) message.tool_calls = calls;
  if (images.length > 0) message.images = images;
  const annotations = renderAnnotations(parts);
  if (annotations.length > 0) message.annotations = annotations;
  for (const value of opaque) layOver(message, value);
  return message;
}

// --- Messages -------------------------------------------------------------------------------------------------------

/** Members for the parts of a message. `hasOther`: the message has other members too. */
function renderWords(parts: readonly Part[], hasOther: boolean): JsonObject {
  const texts: string[] = [];
  const refusals: string[] = [];
  for (const part of parts) {
    if (part.type === 'text') texts.push(part.text);
    else if (part.type === 'refusal') refusals.push(part.refusal);
  }
  const isNull = texts.length === 0 && (hasOther || refusals.length > 0);
  return {
    role: 'assistant',
    content: isNull ? null : texts.join(''),
    refusal: refusals.length === 0 ? null : refusals.join(''),
    reasoning: null,
  };
}

function renderAnnotations(parts: readonly Part[]): JsonObject[] {
  const rendered: JsonObject[] = [];
  let start = 0;
  for (const part of parts) {
    if (part.type !== 'text') continue;
    const span = { start, length: part.text.length };
    start += part.text.length;
    for (const annotation of part.annotations ?? []) {
      for (const entry of renderAnnotation(annotation, span)) rendered.push(entry);
    }
  }
  return rendered;
}

// --- Log probabilities ----------------------------------------------------------------------------------------------

/** Log probabilities of the whole text, as a choice carries them. */
export function renderLogprobs(items: readonly Item[]): JsonObject | null {
  const entries: Logprobs[number][] = [];
  for (const item of items) {
    if (item.type !== 'message') continue;
    for (const part of item.content) {
      if (part.type === 'text') for (const entry of part.logprobs ?? []) entries.push(entry);
    }
  }
  return entries.length === 0 ? null : logprobsObject(entries);
}

export function logprobsObject(entries: Logprobs): JsonObject {
  return { content: [...entries], refusal: null };
}

// --- Thoughts -------------------------------------------------------------------------------------------------------

function addThoughts(message: JsonObject, items: readonly Item[], isExcluded: boolean): void {
  const details: JsonObject[] = [];
  const texts: string[] = [];
  const said = new SaidLast();
  let index = 0;
  for (const item of items) {
    if (item.type === 'message') said.words();
    else if (item.type === 'image') said.image();
    if (item.type === 'reasoning' && !isExcluded) {
      for (const detail of renderReasoningDetails(item, index, said.last)) details.push(detail);
      for (const text of [...item.text, ...item.summary]) texts.push(text);
      index += indexesOf(item);
    } else if (item.type === 'tool-call' && item.signature !== undefined) {
      const { callId, signature, signatureFormat: format, signatureGivenBy: givenBy } = item;
      details.push(callSeal(callId, compact({ signature, format, givenBy })));
    }
  }
  if (texts.length > 0) message.reasoning = texts.join(THOUGHT_SEPARATOR);
  if (details.length > 0) message.reasoning_details = details;
}

/** Tracks the last content of an answer, for the thoughts that follow it. */
export class SaidLast {
  #images = 0;
  #last: Followed;

  get last(): Followed {
    return this.#last;
  }

  words(): void {
    this.#last = 0;
  }

  image(): void {
    this.#images += 1;
    this.#last = this.#images;
  }
}

export function reasoningSeals(
  seal: Seal,
  id: string | undefined,
  index: number,
  after: Followed,
): JsonObject[] {
  const item: ReasoningItem = {
    type: 'reasoning',
    text: [],
    summary: [],
    ...seal,
    ...(id !== undefined && { id }),
  };
  const details = renderReasoningDetails(item, index, after);
  if (details.length > 0 || seal.format === undefined) return details;
  return [{ type: 'reasoning.text', text: '', format: seal.format, ...(id !== undefined && { id }), index }];
}

// --- Images ---------------------------------------------------------------------------------------------------------

export function renderImage({ source }: Pick<ImageItem, 'source'>): JsonObject[] {
  const url = renderUrl(source);
  return url === undefined ? [] : [{ type: 'image_url', image_url: { url } }];
}

// --- Refusals -------------------------------------------------------------------------------------------------------

/** True if the model declined with a text of its own. */
export function isRefusalText(event: Event): boolean {
  return event.type === 'text-delta' && event.kind === 'refusal';
}

// --- What a stream has sent -----------------------------------------------------------------------------------------

/** Indexes in `reasoning_details` that a stream has written: each part of each item has its own. */
export class SentDetails {
  /** Indexes by `item/kind/part`. */
  readonly #indexes = new Map<string, number>();
  /** Last requested index of each item. */
  readonly #last = new Map<number, number>();
  /** The part of the thoughts that was written last. */
  #lastThought: string | undefined;

  indexOf(item: number, part: number, kind: string): number {
    const key = keyOf(item, part, kind);
    const index = this.#indexes.get(key) ?? this.#indexes.size;
    this.#indexes.set(key, index);
    this.#last.set(item, index);
    return index;
  }

  /** The index of the item's last written part, or of its first thought. */
  lastIndexOf(item: number): number {
    return this.#last.get(item) ?? this.indexOf(item, 0, 'thought');
  }

  /** Notes that a thought is written. True if it is another part than the one before. */
  turnTo(item: number, part: number, kind: string): boolean {
    const key = keyOf(item, part, kind);
    const isFurtherPart = this.#lastThought !== undefined && this.#lastThought !== key;
    this.#lastThought = key;
    return isFurtherPart;
  }
}

function keyOf(item: number, part: number, kind: string): string {
  return `${item}/${kind}/${part}`;
}

/**
 * Counts the text that a stream has written: citations point into the whole text, while each part of the answer counts
 * from its own beginning.
 */
export class SentText {
  #length = 0;
  /** The current part and its start. */
  #part = { item: -1, part: -1, start: 0 };
  /** Annotations of the current part that cover all of it. */
  #waiting: Annotation[] = [];

  add(item: number, part: number, text: string): void {
    const isSame = item === this.#part.item && part === this.#part.part;
    if (!isSame) this.#part = { item, part, start: this.#length };
    this.#length += text.length;
  }

  /**
   * The annotations to write now. Those that cover the whole part wait for its end, unless no event announces that.
   */
  annotate(item: number, part: number, annotation: Annotation, canWait: boolean): JsonObject[] {
    this.add(item, part, '');
    const isAboutAll = annotation.type === 'url-citation' && annotation.endIndex === undefined;
    if (!isAboutAll || !canWait) return this.#rendered([annotation]);
    this.#waiting.push(annotation);
    return [];
  }

  /** The annotations that waited for the end of the part. */
  endPart(): JsonObject[] {
    return this.#rendered(this.#waiting.splice(0));
  }

  #rendered(annotations: readonly Annotation[]): JsonObject[] {
    const { start } = this.#part;
    return annotations.flatMap((annotation) =>
      renderAnnotation(annotation, { start, length: this.#length - start }),
    );
  }
}
