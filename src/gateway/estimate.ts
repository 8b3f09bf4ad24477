import type { Item, Part } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import type { Usage } from '../ir/usage.ts';
import type { Tokenizer } from './tokenizer.ts';

/** What an image, a file or a recording counts for where nobody says: about one picture at common resolutions. */
const MEDIA_TOKENS = 765;

/** Tokens that every message costs for its role and separators. */
const MESSAGE_OVERHEAD = 4;

/** Something to be counted: texts for the tokenizer, and tokens that are known without it. */
interface Countable {
  readonly texts: readonly string[];
  readonly tokens: number;
}

/** Tokens of a prompt, as our tokenizer sees it. */
export async function countPrompt(request: GenerationRequest, tokenizer: Tokenizer): Promise<number> {
  return countOf(promptOf(request), tokenizer);
}

/** Characters of a prompt: cheap, and enough to see that it is far from any limit. */
export function promptCharacters(request: GenerationRequest): number {
  const { texts, tokens } = promptOf(request);
  return texts.reduce((sum, text) => sum + text.length, tokens);
}

/** Usage of an answer whose upstream reported none. */
export async function estimateUsage(
  request: GenerationRequest,
  result: Result,
  tokenizer: Tokenizer,
): Promise<Usage> {
  const reasoning = result.items.filter(({ type }) => type === 'reasoning');
  const rest = result.items.filter(({ type }) => type !== 'reasoning');
  const [inputTokens, reasoningTokens, restTokens] = await Promise.all([
    countPrompt(request, tokenizer),
    countOf(together(reasoning.map(itemOf)), tokenizer),
    countOf(together(rest.map(itemOf)), tokenizer),
  ]);
  return {
    inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: reasoningTokens + restTokens,
    reasoningTokens,
    imageTokens: 0,
    webSearchRequests: 0,
    source: 'estimated',
  };
}

async function countOf({ texts, tokens }: Countable, tokenizer: Tokenizer): Promise<number> {
  return texts.length === 0 ? tokens : tokens + (await tokenizer.count(texts));
}

function promptOf(request: GenerationRequest): Countable {
  const { items, tools, outputFormat } = request;
  return together([
    ...items.map(itemOf),
    ...tools.map((tool) => textsOf(JSON.stringify(tool))),
    ...(outputFormat?.type === 'json-schema' ? [textsOf(JSON.stringify(outputFormat.schema))] : []),
    { texts: [], tokens: items.length * MESSAGE_OVERHEAD },
  ]);
}

function itemOf(item: Item): Countable {
  switch (item.type) {
    case 'message':
    case 'tool-result':
      return together(item.content.map(partOf));
    case 'reasoning':
      return textsOf(...item.text, ...item.summary);
    case 'tool-call':
      return textsOf(item.name, item.input);
    case 'image':
      return { texts: [], tokens: MEDIA_TOKENS };
    case 'opaque':
      return textsOf(JSON.stringify(item.value));
  }
}

function partOf(part: Part): Countable {
  switch (part.type) {
    case 'text':
      return textsOf(part.text);
    case 'refusal':
      return textsOf(part.refusal);
    case 'opaque':
      return textsOf(JSON.stringify(part.value));
    case 'file':
      return part.source.kind === 'text' ? textsOf(part.source.text) : { texts: [], tokens: MEDIA_TOKENS };
    default:
      return { texts: [], tokens: MEDIA_TOKENS };
  }
}

function textsOf(...texts: string[]): Countable {
  return { texts: texts.filter((text) => text !== ''), tokens: 0 };
}

function together(parts: readonly Countable[]): Countable {
  return {
    texts: parts.flatMap(({ texts }) => texts),
    tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
