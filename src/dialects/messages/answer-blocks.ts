import type { Item, Part } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { inputObject } from '../shared/tools/call-input.ts';
import { flatArguments } from '../shared/tools/tool-names.ts';
import { renderCitation } from './citations.ts';
import { imageTextBlock } from './made-image.ts';
import { reasoningBlock } from './reasoning.ts';
import { toolUseBlock } from './tool-use.ts';

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
      return [imageTextBlock(item.source)];
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
