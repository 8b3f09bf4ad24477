import type { Finish } from '../../ir/events.ts';
import type { Item, ItemStatus, MessageItem, Part, ReasoningItem, ToolCallItem } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectsAt } from '../../kit/json/members.ts';
import { familyOf, wrapSeal } from '../shared/reasoning/custody.ts';
import { NO_ARGUMENTS } from '../shared/tools/tool-names.ts';
import { INPUT_CHANNELS, TEXT_CHANNELS } from './event-types.ts';

import { imageFields, renderAnnotation } from './render-content.ts';

/** Output items as callers see them. */

/** Writes an item under its id. Undefined for what this format cannot show. */
export function renderOutputItem(
  item: Item,
  id: string,
  status: ItemStatus,
  request: GenerationRequest,
): JsonObject | undefined {
  switch (item.type) {
    case 'message':
      return renderMessage(item, id, status);
    case 'reasoning':
      return renderReasoning(shownReasoning(item, request), id, status);
    case 'tool-call':
      return renderToolCall(item, id, status);
    case 'image':
      return compact({
        id,
        ...imageFields(item.source),
        status: imageStatus(status),
        ...item.ext?.responses,
      });
    case 'opaque':
      return item.dialect === 'responses' ? { ...item.value, id } : undefined;
    case 'tool-result':
      return undefined;
  }
}

function renderMessage(item: MessageItem, id: string, status: ItemStatus): JsonObject {
  return compact({
    id,
    type: 'message',
    role: 'assistant',
    status,
    phase: item.phase,
    content: item.content.flatMap(renderOutputPart),
    ...item.ext?.responses,
  });
}

/** Writes one part; nothing for what this format cannot show. */
export function renderOutputPart(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [
        {
          type: TEXT_CHANNELS.text.partType,
          text: part.text,
          annotations: (part.annotations ?? []).flatMap((annotation) =>
            renderAnnotation(annotation, part.text),
          ),
          logprobs: [...(part.logprobs ?? [])],
          ...part.ext?.responses,
        },
      ];
    case 'refusal':
      return [{ type: TEXT_CHANNELS.refusal.partType, refusal: part.refusal, ...part.ext?.responses }];
    case 'opaque':
      return part.dialect === 'responses' ? [part.value] : [];
    default:
      return [];
  }
}

/** Reasoning as the caller wants to see it: not at all, or raw thoughts also as the summary that was asked for. */
function shownReasoning(item: ReasoningItem, request: GenerationRequest): ReasoningItem {
  if (request.reasoning?.exclude === true) return { ...item, text: [], summary: [] };
  const mirrors = request.reasoning?.summary !== undefined && item.summary.length === 0;
  return mirrors ? { ...item, summary: item.text } : item;
}

function renderReasoning(item: ReasoningItem, id: string, status: ItemStatus): JsonObject {
  return compact({
    id,
    type: 'reasoning',
    summary: item.summary.map((text) => ({ type: TEXT_CHANNELS.summary.partType, text })),
    content:
      item.text.length > 0
        ? item.text.map((text) => ({ type: TEXT_CHANNELS.thought.partType, text }))
        : undefined,
    ...sealFields(item),
    status,
    ...item.ext?.responses,
  });
}

/**
 * The seal of a reasoning item. Most clients replay only `encrypted_content`, so what no upstream of this dialect gave
 * travels there too, wrapped together with what it needs on its way home.
 */
function sealFields(item: ReasoningItem): JsonObject {
  const { signature, encrypted, format, givenBy } = item;
  if (signature === undefined && encrypted === undefined && givenBy === undefined) return {};
  const isOwn = encrypted !== undefined && familyOf(format) === 'openai' && givenBy === undefined;
  return { signature, encrypted_content: isOwn ? encrypted : wrapSeal(item), format };
}

/** The seal of a call, wrapped when it must find its way back to the upstream that gave it. */
function callSeal({ signature, signatureFormat: format, signatureGivenBy: givenBy }: ToolCallItem) {
  if (signature === undefined || givenBy === undefined) return signature;
  return wrapSeal({ signature, format, givenBy });
}

function renderToolCall(item: ToolCallItem, id: string, status: ItemStatus): JsonObject {
  const { type, field } = INPUT_CHANNELS[item.kind];
  return compact({
    id,
    type,
    call_id: item.callId,
    name: item.name,
    namespace: item.namespace,
    [field]: item.input,
    signature: callSeal(item),
    status,
    ...item.ext?.responses,
  });
}

/** Images know no `incomplete`. */
function imageStatus(status: ItemStatus): string {
  return status === 'incomplete' ? 'failed' : status;
}

/** True when some part of the answer is a refusal. */
export function showsRefusal(items: readonly Item[]): boolean {
  return items.some(
    (item) => item.type === 'message' && item.content.some((part) => part.type === 'refusal'),
  );
}

/** What a refusal says where the model gave no words for it. */
export function refusalText(finish: Finish): string {
  return finish.explanation ?? 'The model declined to answer.';
}

/** An upstream's own item with its id replaced and the members added that strict clients miss. */
export function patchOutputItem(
  item: JsonObject,
  id: string,
  status: ItemStatus,
  request: GenerationRequest,
): JsonObject {
  switch (item.type) {
    case 'message':
      return {
        ...item,
        id,
        role: 'assistant',
        status: item.status ?? status,
        content: objectsAt(item, 'content').map(patchOutputPart),
      };
    case 'reasoning': {
      const shown = request.reasoning?.exclude === true ? { ...item, summary: [], content: undefined } : item;
      return compact({ ...shown, id, summary: objectsAt(shown, 'summary') });
    }
    case INPUT_CHANNELS.function.type: {
      const whole = { ...item, id, status: item.status ?? status };
      const isEmpty = whole.status === 'completed' && item.arguments === '';
      return isEmpty ? { ...whole, arguments: NO_ARGUMENTS } : whole;
    }
    case INPUT_CHANNELS.custom.type:
      return { ...item, id, status: item.status ?? status };
    default:
      return { ...item, id };
  }
}

/** An upstream's own part with the lists that strict clients miss. */
export function patchOutputPart(part: JsonObject): JsonObject {
  if (part.type !== TEXT_CHANNELS.text.partType) return part;
  if (Array.isArray(part.annotations) && Array.isArray(part.logprobs)) return part;
  return { ...part, annotations: objectsAt(part, 'annotations'), logprobs: objectsAt(part, 'logprobs') };
}
