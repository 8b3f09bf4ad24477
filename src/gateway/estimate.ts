import type { Item, Part } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Omission, Result } from '../ir/result.ts';
import type { Usage } from '../ir/usage.ts';
import { jsonLength } from '../kit/json-length.ts';
import { charactersOf } from './text-slices.ts';
import type { Tokenizer } from './tokenizer.ts';

/** What an image, a file or a recording counts for where nobody says: about one picture at common resolutions. */
const MEDIA_TOKENS = 765;

/** Tokens that every message costs for its role and separators. */
const MESSAGE_OVERHEAD = 4;

/** What is told of all that there is to count. */
interface Counted {
  addText(text: string): void;
  /** Something that is written as JSON. */
  addJson(value: object): void;
  addTokens(tokens: number): void;
}

/** The length of something: nobody asks for more of most prompts. */
class Length implements Counted {
  characters = 0;

  addText(text: string): void {
    this.characters += text.length;
  }

  addJson(value: object): void {
    this.characters += jsonLength(value);
  }

  addTokens(tokens: number): void {
    this.characters += tokens;
  }
}

/** Something to be counted: texts for the tokenizer, and tokens that are known without it. */
class Countable implements Counted {
  readonly #texts: string[] = [];
  #tokens = 0;

  addText(text: string): void {
    if (text !== '') this.#texts.push(text);
  }

  addJson(value: object): void {
    this.#texts.push(JSON.stringify(value));
  }

  addTokens(tokens: number): void {
    this.#tokens += tokens;
  }

  async count(tokenizer: Tokenizer, signal?: AbortSignal): Promise<number> {
    if (this.#texts.length === 0) return this.#tokens;
    return this.#tokens + (await tokenizer.count(this.#texts, signal));
  }
}

/** Tokens of a prompt, as our tokenizer sees it. */
export async function countPrompt(
  request: GenerationRequest,
  tokenizer: Tokenizer,
  signal?: AbortSignal,
): Promise<number> {
  return new Prompt(request).count(tokenizer, signal);
}

/** Usage of an answer whose upstream reported none. Nothing stops it: every answer is accounted for. */
export async function estimateUsage(
  request: GenerationRequest,
  result: Result,
  tokenizer: Tokenizer,
): Promise<Usage> {
  const reasoning = new Countable();
  const rest = new Countable();
  for (const item of result.items) addItem(item, item.type === 'reasoning' ? reasoning : rest);
  const [inputTokens, keptReasoning, keptRest, omittedReasoning, omittedRest] = await Promise.all([
    countPrompt(request, tokenizer),
    reasoning.count(tokenizer),
    rest.count(tokenizer),
    countOmitted(result.omitted?.reasoning, tokenizer),
    countOmitted(result.omitted?.other, tokenizer),
  ]);
  const reasoningTokens = keptReasoning + omittedReasoning;
  return {
    inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: reasoningTokens + keptRest + omittedRest,
    reasoningTokens,
    imageTokens: 0,
    webSearchRequests: 0,
    source: 'estimated',
  };
}

/** Tokens of text of which there is a sample. */
async function countOmitted(omission: Omission | undefined, tokenizer: Tokenizer): Promise<number> {
  if (omission === undefined || omission.characters === 0) return 0;
  const { characters, sample } = omission;
  return Math.ceil(((await tokenizer.count(sample)) * characters) / charactersOf(sample));
}

/** A prompt whose length may be asked for, as everybody who looks at one request shares it. */
export class Prompt {
  readonly #request: GenerationRequest;
  #characters: number | undefined;

  constructor(request: GenerationRequest) {
    this.#request = request;
  }

  /** Characters, each known token as one: cheap, and enough to see that a prompt is far from any limit. */
  get characters(): number {
    this.#characters ??= gather(this.#request, new Length()).characters;
    return this.#characters;
  }

  /** Tokens, as our tokenizer sees them. Rejects with the reason of `signal`, and for no other. */
  count(tokenizer: Tokenizer, signal?: AbortSignal): Promise<number> {
    return gather(this.#request, new Countable()).count(tokenizer, signal);
  }
}

function gather<T extends Counted>({ items, tools, outputFormat }: GenerationRequest, prompt: T): T {
  for (const item of items) addItem(item, prompt);
  for (const tool of tools) prompt.addJson(tool);
  if (outputFormat?.type === 'json-schema') prompt.addJson(outputFormat.schema);
  prompt.addTokens(items.length * MESSAGE_OVERHEAD);
  return prompt;
}

function addItem(item: Item, to: Counted): void {
  switch (item.type) {
    case 'message':
    case 'tool-result':
      for (const part of item.content) addPart(part, to);
      return;
    case 'reasoning':
      for (const text of item.text) to.addText(text);
      for (const text of item.summary) to.addText(text);
      return;
    case 'tool-call':
      to.addText(item.name);
      to.addText(item.input);
      return;
    case 'image':
      to.addTokens(MEDIA_TOKENS);
      return;
    case 'opaque':
      to.addJson(item.value);
      return;
  }
}

function addPart(part: Part, to: Counted): void {
  switch (part.type) {
    case 'text':
      to.addText(part.text);
      return;
    case 'refusal':
      to.addText(part.refusal);
      return;
    case 'opaque':
      to.addJson(part.value);
      return;
    case 'file':
      if (part.source.kind === 'text') to.addText(part.source.text);
      else to.addTokens(MEDIA_TOKENS);
      return;
    default:
      to.addTokens(MEDIA_TOKENS);
  }
}
