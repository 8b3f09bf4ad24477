import type { Event, Seal } from '../../ir/events.ts';
import type {
  ImageItem,
  Item,
  Logprobs,
  Part,
  ReasoningItem,
  ToolCallItem,
  ToolKind,
} from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { layOver } from '../../kit/json/lay-over.ts';
import { compact } from '../../kit/json/members.ts';
import { flatArguments, flatToolName } from '../shared/tools/tool-names.ts';
import { renderAnnotation } from './citations.ts';
import { renderUrl } from './media.ts';
import { type Followed, indexesOf, renderReasoningDetails, writeSeal } from './reasoning.ts';

/** Pieces of an answer in the chat format's words, shared by streams and bodies. */

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

/** What the parts of a message say. `hasOther`: the message says something besides. */
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

/** Between the parts of the thoughts, which the format also writes as one text. */
export const THOUGHT_SEPARATOR = '\n\n';

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

/** Keeps count of what an answer has said, for the thoughts that follow. */
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

/** Log probabilities of all the text, as a choice carries them. */
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

/** The head of a call: what its first delta says. */
export function callHead(call: Pick<ToolCallItem, 'callId' | 'kind' | 'name' | 'namespace'>): JsonObject {
  const name = call.namespace === undefined ? call.name : flatToolName(call.name, call.namespace);
  return call.kind === 'custom'
    ? { id: call.callId, type: 'custom', custom: { name, input: '' } }
    : { id: call.callId, type: 'function', function: { name, arguments: '' } };
}

/**
 * The call as the caller can take it: free text for a tool that was never declared to take any becomes the argument of
 * a function, because clients expect such calls only of tools that they declared so.
 */
export function asDeclared(item: Item, request: GenerationRequest): Item {
  if (item.type !== 'tool-call' || !isUnexpected(item, request)) return item;
  return { ...item, kind: 'function', input: flatArguments(item) };
}

/** True for a free-text call of a tool that the request does not declare to take free text. */
export function isUnexpected(call: Pick<ToolCallItem, 'kind' | 'name'>, request: GenerationRequest): boolean {
  if (call.kind !== 'custom') return false;
  return !request.tools.some((tool) => tool.type === 'custom' && tool.name === call.name);
}

/** A piece of a call's input. */
export function callInput(kind: ToolKind, text: string): JsonObject {
  return kind === 'custom' ? { custom: { input: text } } : { function: { arguments: text } };
}

function renderToolCall(call: ToolCallItem, index: number): JsonObject {
  const head = callHead(call);
  const body =
    call.kind === 'custom'
      ? { custom: { ...(head.custom as JsonObject), input: call.input } }
      : { function: { ...(head.function as JsonObject), arguments: call.input } };
  return { index, ...head, ...body, ...call.ext?.chat };
}

/** The seal of a call: an encrypted detail that bears the call's id. */
export function callSeal(callId: string, seal: Seal): JsonObject {
  const { format, givenBy } = seal;
  const signature = seal.signature ?? seal.encrypted ?? '';
  const data = writeSeal(signature, { signature, format, givenBy });
  return compact({ type: 'reasoning.encrypted', data, id: callId, format });
}

export function renderImage({ source }: Pick<ImageItem, 'source'>): JsonObject[] {
  const url = renderUrl(source);
  return url === undefined ? [] : [{ type: 'image_url', image_url: { url } }];
}

/** The details that seal a reasoning item. */
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

/**
 * True for callers of the format's first generation: they declare `functions` and read `function_call`. Who declares
 * tools reads `tool_calls`, whatever else the body has.
 */
export function speaksLegacyCalls({ body: { functions }, tools }: GenerationRequest): boolean {
  return Array.isArray(functions) && functions.length > 0 && tools.length === 0;
}

/** True when the model declined in words of its own. */
export function isRefusalText(event: Event): boolean {
  return event.type === 'text-delta' && event.kind === 'refusal';
}
