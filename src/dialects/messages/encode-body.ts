import type { Finish, Settled } from '../../ir/events.ts';
import type { OutputItem, Part } from '../../ir/items.ts';
import type { Result } from '../../ir/result.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import type { ReplyContext } from '../dialect.ts';
import { inputObject } from '../shared/tools/call-input.ts';
import { flatArguments } from '../shared/tools/tool-names.ts';
import { renderAnnotation } from './citations.ts';
import { opaqueBlocks, serverCallBlocks } from './encode-calls.ts';
import { toolUseBlock, withBlockDefaults } from './encode-content.ts';
import { type AnswerContents, relayFinish, renderFinish } from './finish.ts';
import { messageId } from './ids.ts';
import { imageBlockAsText, imageTextBlock } from './media.ts';
import { hidesThoughts, reasoningBlock } from './reasoning.ts';
import { renderUsage, wholeUsage } from './usage.ts';

// --- The whole body -------------------------------------------------------------------------------------------------

/** Writes a whole message. In the relay lane it is the upstream's own, patched. */
export function encodeBody(result: Result, context: ReplyContext): JsonObject {
  const finish: Finish = result.finish ?? { type: 'finish', reason: 'stop' };
  const settled = finish.settled === undefined ? { ...finish, settled: result.settled } : finish;
  return result.relayed === undefined
    ? wholeMessage(result, settled, context)
    : patchedMessage(result.relayed, result, settled, context);
}

function wholeMessage(result: Result, finish: Finish, context: ReplyContext): JsonObject {
  const edits = finish.ext?.messages?.context_management;
  // Assigned: an object literal with a repeated member is many times slower.
  const message = emptyMessage(context, wholeUsage(context, finish, result.usage));
  message.content = answerBlocks(result.items, context);
  Object.assign(message, renderFinish(finish, saidIn(result.items)));
  if (edits !== undefined) message.context_management = edits;
  return Object.assign(message, metadataField(context, finish.settled));
}

// --- Relay ----------------------------------------------------------------------------------------------------------

function patchedMessage(
  relayed: JsonObject,
  result: Result,
  finish: Finish,
  context: ReplyContext,
): JsonObject {
  const written = isJsonObject(relayed.usage) ? relayed.usage : {};
  return {
    ...emptyMessage(context),
    ...relayed,
    content: Array.isArray(relayed.content) ? relayed.content.map(wholeBlock) : [],
    ...identityFields(context),
    ...relayFinish(relayed, finish, saidIn(result.items)),
    usage: wholeUsage(context, finish, result.usage, written),
    ...metadataField(context, finish.settled),
  };
}

function wholeBlock(block: Json): Json {
  if (!isJsonObject(block)) return block;
  return block.type === 'image' ? imageBlockAsText(block) : withBlockDefaults(block);
}

// --- Content --------------------------------------------------------------------------------------------------------

function saidIn(items: readonly OutputItem[]): AnswerContents {
  const parts = items.flatMap((item) => (item.type === 'message' ? item.content : []));
  return {
    hasCalls: items.some((item) => item.type === 'tool-call'),
    refusal: parts.map((part) => (part.type === 'refusal' ? part.refusal : '')).join(''),
  };
}

/** The content blocks of a whole answer, without items that this format does not have. */
function answerBlocks(items: readonly OutputItem[], context: ReplyContext): JsonObject[] {
  return items.flatMap((item) => blocksOf(item, context)).filter((block) => block !== undefined);
}

function blocksOf(item: OutputItem, context: ReplyContext): (JsonObject | undefined)[] {
  const { exactNumbers } = context.request;
  switch (item.type) {
    case 'message':
      return item.content.map(partBlock);
    case 'reasoning':
      return [reasoningBlock(item, hidesThoughts(context))];
    case 'tool-call': {
      const text = flatArguments(item);
      return [{ ...toolUseBlock(item), input: inputObject(text, exactNumbers) ?? { raw: text } }];
    }
    case 'image':
      return [imageTextBlock(item.source)];
    case 'opaque':
      return opaqueBlocks(item, exactNumbers);
    case 'server-call':
      return serverCallBlocks(item, exactNumbers);
    case 'tool-result':
      return [];
  }
}

function partBlock(part: Part): JsonObject | undefined {
  if (part.type === 'refusal') return { type: 'text', text: part.refusal, citations: [] };
  if (part.type !== 'text' || part.text === '') return undefined;
  const citations = (part.annotations ?? [])
    .map(renderAnnotation)
    .filter((citation) => citation !== undefined);
  return { type: 'text', text: part.text, citations };
}

// --- Members that streams and whole bodies share --------------------------------------------------------------------

/** Fields that come from the gateway in both lanes. */
export function identityFields(context: ReplyContext): JsonObject {
  const fields: JsonObject = { id: messageId(context), model: context.model };
  if (context.provider !== '') fields.provider = context.provider;
  return fields;
}

export function emptyMessage(
  context: ReplyContext,
  usage = renderUsage(NO_USAGE, context.serviceTier),
): JsonObject {
  return {
    ...identityFields(context),
    type: 'message',
    role: 'assistant',
    content: [],
    container: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage,
  };
}

/** The routing metadata under its field name; no member if the caller did not ask for it. */
export function metadataField(context: ReplyContext, settled: Settled | undefined): JsonObject {
  return settled?.metadata === undefined
    ? {}
    : { [`${context.vendor}_metadata`]: settled.metadata as unknown as JsonObject };
}
