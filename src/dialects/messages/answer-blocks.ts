import type { Item, Part, Source } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json.ts';
import { flatArguments } from '../tool-names.ts';
import { renderCitation } from './citations.ts';
import { reasoningBlock } from './reasoning.ts';
import { inputObject, toolUseBlock } from './tool-use.ts';

/** The content blocks of a whole answer. What this format cannot say is left out. */
export function answerBlocks(items: readonly Item[], hidesThoughts: boolean): JsonObject[] {
  return items.flatMap((item) => blocksOf(item, hidesThoughts)).filter((block) => block !== undefined);
}

function blocksOf(item: Item, hidesThoughts: boolean): (JsonObject | undefined)[] {
  switch (item.type) {
    case 'message':
      return item.content.map(partBlock);
    case 'reasoning':
      return [reasoningBlock(item, hidesThoughts)];
    case 'tool-call': {
      const text = flatArguments(item);
      return [{ ...toolUseBlock(item), input: inputObject(text) ?? { raw: text } }];
    }
    case 'image':
      return [imageBlock(item.source)];
    case 'opaque':
      return item.dialect === 'messages' ? [item.value] : [];
    case 'tool-result':
      return [];
  }
}

function partBlock(part: Part): JsonObject | undefined {
  if (part.type === 'refusal') return { type: 'text', text: part.refusal, citations: [] };
  if (part.type !== 'text' || part.text === '') return undefined;
  const citations = (part.annotations ?? []).map(renderCitation).filter((citation) => citation !== undefined);
  return { type: 'text', text: part.text, citations };
}

/** An image that the model made; undefined when its bytes and address are unknown. */
export function imageBlock(source: Source): JsonObject | undefined {
  switch (source.kind) {
    case 'base64':
      return {
        type: 'image',
        source: { type: 'base64', media_type: source.mediaType, data: source.data },
      };
    case 'url':
      return { type: 'image', source: { type: 'url', url: source.url } };
    default:
      return undefined;
  }
}
