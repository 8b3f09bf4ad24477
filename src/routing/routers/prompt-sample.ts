import type { Item, Part } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';

/** Texts in the sample, from the beginning and from the end of the conversation. */
const OPENING_TEXTS = 2;
const LATEST_TEXTS = 4;
/** Last items that are searched for the latest texts. */
const LATEST_ITEMS = 16;

/** Characters of each text, from its beginning and from its end. */
const HEAD_CHARACTERS = 1000;
const TAIL_CHARACTERS = 200;

/** Items that are measured; a longer conversation is extrapolated from them. */
const MEASURED_ITEMS = 2048;

const CHARACTERS_PER_TOKEN = 4;

/** Text from the beginning and the end of a conversation, of bounded length. */
export function samplePrompt({ items }: GenerationRequest): string {
  const opening = textsOf(items, OPENING_TEXTS);
  const latest = textsOf(items.slice(-LATEST_ITEMS).reverse(), LATEST_TEXTS).reverse();
  return [...new Set([...opening, ...latest].map(excerpt))].join('\n');
}

/** Tokens of the whole prompt, at four characters a token. */
export function estimatePromptTokens({ items }: GenerationRequest): number {
  return Math.ceil(characterCount(items) / CHARACTERS_PER_TOKEN);
}

/** At most `most` texts of messages and tool results. */
function textsOf(items: readonly Item[], most: number): string[] {
  const texts: string[] = [];
  for (const item of items) {
    if (item.type !== 'message' && item.type !== 'tool-result') continue;
    for (const part of item.content) {
      if (texts.length === most) return texts;
      const text = textOf(part);
      if (text !== '') texts.push(text);
    }
  }
  return texts;
}

function textOf(part: Part): string {
  if (part.type === 'text') return part.text;
  return part.type === 'file' && part.source.kind === 'text' ? part.source.text : '';
}

function excerpt(text: string): string {
  return text.length <= HEAD_CHARACTERS + TAIL_CHARACTERS
    ? text
    : `${text.slice(0, HEAD_CHARACTERS)}\n${text.slice(-TAIL_CHARACTERS)}`;
}

function characterCount(items: readonly Item[]): number {
  const measured = items.slice(-MEASURED_ITEMS);
  let count = 0;
  for (const item of measured) count += lengthOf(item);
  return measured.length === 0 ? 0 : (count * items.length) / measured.length;
}

function lengthOf(item: Item): number {
  switch (item.type) {
    case 'message':
    case 'tool-result': {
      let length = 0;
      for (const part of item.content) length += textOf(part).length;
      return length;
    }
    case 'tool-call':
      return item.input.length;
    default:
      return 0;
  }
}
