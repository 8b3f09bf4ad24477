import type { Item, Part } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import type { Usage } from '../ir/usage.ts';

/** Counts tokens of plain text. */
export type CountText = (text: string) => number;

/** Longer texts are counted on their beginning and scaled: a huge prompt must not stall the loop. */
const COUNTED_CHARACTERS = 200_000;

/** What an image counts for where nobody says: the price of one tile set at common resolutions. */
const IMAGE_TOKENS = 765;

/** Tokens that every message costs for its role and separators. */
const MESSAGE_OVERHEAD = 4;

/** Opens the tokenizer on first use: it takes memory that an idle gateway should not hold. */
export function lazyTokenizer(): () => Promise<CountText> {
  let opening: Promise<CountText> | undefined;
  return () => {
    opening ??= import('gpt-tokenizer/encoding/o200k_base').then(({ countTokens }) => (text) => {
      if (text.length <= COUNTED_CHARACTERS) return countTokens(text);
      return Math.ceil((countTokens(text.slice(0, COUNTED_CHARACTERS)) * text.length) / COUNTED_CHARACTERS);
    });
    return opening;
  };
}

/** Tokens of a prompt, as our tokenizer sees it. */
export function countPrompt(request: GenerationRequest, count: CountText): number {
  let tokens = 0;
  for (const item of request.items) tokens += MESSAGE_OVERHEAD + countItem(item, count);
  for (const tool of request.tools) tokens += count(JSON.stringify(tool));
  if (request.outputFormat?.type === 'json-schema')
    tokens += count(JSON.stringify(request.outputFormat.schema));
  return tokens;
}

/** Usage of an answer whose upstream reported none. */
export function estimateUsage(request: GenerationRequest, result: Result, count: CountText): Usage {
  let outputTokens = 0;
  let reasoningTokens = 0;
  for (const item of result.items) {
    const tokens = countItem(item, count);
    outputTokens += tokens;
    if (item.type === 'reasoning') reasoningTokens += tokens;
  }
  return {
    inputTokens: countPrompt(request, count),
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens,
    reasoningTokens,
    imageTokens: 0,
    webSearchRequests: 0,
    source: 'estimated',
  };
}

function countItem(item: Item, count: CountText): number {
  switch (item.type) {
    case 'message':
    case 'tool-result':
      return item.content.reduce((sum, part) => sum + countPart(part, count), 0);
    case 'reasoning':
      return [...item.text, ...item.summary].reduce((sum, text) => sum + count(text), 0);
    case 'tool-call':
      return count(item.name) + count(item.input);
    case 'image':
      return IMAGE_TOKENS;
    case 'opaque':
      return count(JSON.stringify(item.value));
  }
}

function countPart(part: Part, count: CountText): number {
  switch (part.type) {
    case 'text':
      return count(part.text);
    case 'refusal':
      return count(part.refusal);
    case 'image':
      return IMAGE_TOKENS;
    case 'file':
      return part.source.kind === 'text' ? count(part.source.text) : IMAGE_TOKENS;
    case 'opaque':
      return count(JSON.stringify(part.value));
    default:
      return IMAGE_TOKENS;
  }
}
