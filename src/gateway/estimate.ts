import type { Item, Part, Source } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Omission, Result } from '../ir/result.ts';
import type { Usage } from '../ir/usage.ts';
import { isJsonObject, type JsonObject } from '../kit/json.ts';
import { jsonLength } from '../kit/json-length.ts';
import { charactersOf } from './text-slices.ts';
import type { Tokenizer } from './tokenizer.ts';

/** What an image, a file or a recording counts for where nobody says: about one picture at common resolutions. */
const MEDIA_TOKENS = 765;

/** Characters of a token, about. */
export const USUAL_CHARACTERS = 4;

/** Tokens that every message costs for its role and separators. */
const MESSAGE_OVERHEAD = 4;

/** What is told of all that there is to count. */
interface Counted {
  addText(text: string): void;
  /** Something that is written as JSON. */
  addJson(value: object): void;
  addTokens(tokens: number): void;
  addImage(): void;
  /** A file, a recording or a film; or something that names one. */
  addDocument(): void;
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

  addImage(): void {
    this.addTokens(MEDIA_TOKENS);
  }

  addDocument(): void {
    this.addTokens(MEDIA_TOKENS);
  }
}

/** What a prompt holds besides text. */
export interface PromptMedia {
  readonly images: number;
  /** Files, recordings and films: their tokens are known to the upstream alone. */
  readonly documents: number;
}

class Media implements Counted, PromptMedia {
  images = 0;
  documents = 0;

  addText(): void {}

  addJson(): void {}

  addTokens(): void {}

  addImage(): void {
    this.images += 1;
  }

  addDocument(): void {
    this.documents += 1;
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

  addImage(): void {
    this.addTokens(MEDIA_TOKENS);
  }

  addDocument(): void {
    this.addTokens(MEDIA_TOKENS);
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
  #media: PromptMedia | undefined;

  constructor(request: GenerationRequest) {
    this.#request = request;
  }

  /** Characters, each known token as one: cheap, and enough to see that a prompt is far from any limit. */
  get characters(): number {
    this.#characters ??= gather(this.#request, new Length()).characters;
    return this.#characters;
  }

  /** Tokens, about. */
  get usualTokens(): number {
    return Math.ceil(this.characters / USUAL_CHARACTERS);
  }

  /** What the prompt holds besides text. */
  get media(): PromptMedia {
    this.#media ??= gather(this.#request, new Media());
    return this.#media;
  }

  /** Tokens, as our tokenizer sees them. Rejects with the reason of `signal`, and for no other. */
  count(tokenizer: Tokenizer, signal?: AbortSignal): Promise<number> {
    return gather(this.#request, new Countable()).count(tokenizer, signal);
  }
}

function gather<T extends Counted>({ items, tools, outputFormat }: GenerationRequest, prompt: T): T {
  for (const item of items) addItem(item, prompt);
  for (const tool of tools) {
    prompt.addJson(tool);
    if (tool.type === 'hosted' && tool.kind.startsWith(PAGE_READER)) prompt.addDocument();
  }
  if (outputFormat?.type === 'json-schema') prompt.addJson(outputFormat.schema);
  prompt.addTokens(items.length * MESSAGE_OVERHEAD);
  return prompt;
}

/** Tools by which an upstream puts whole pages into the prompt. */
const PAGE_READER = 'web_fetch';

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
      to.addImage();
      return;
    case 'opaque':
      addOpaque(item.value, to);
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
      addOpaque(part.value, to);
      return;
    case 'file':
      addFile(part.source, to);
      return;
    case 'image':
      to.addImage();
      return;
    case 'audio':
    case 'video':
      to.addDocument();
  }
}

/** Of a text the bytes are known, and no token is less than one of them. Any other file may hold any number of pages. */
function addFile(source: Source, to: Counted): void {
  if (source.kind === 'text') to.addText(source.text);
  else if (source.kind === 'base64' && isText(source.mediaType)) to.addTokens(bytesOf(source.data));
  else to.addDocument();
}

const TEXT_TYPES = /^(?:text\/|application\/(?:json|xml|yaml|javascript)\b)/i;

function isText(mediaType: string): boolean {
  return TEXT_TYPES.test(mediaType);
}

function bytesOf(base64: string): number {
  return Math.ceil((base64.length * 3) / 4);
}

/** What we do not model may name something that only the upstream reads. */
function addOpaque(value: JsonObject, to: Counted): void {
  to.addJson(value);
  if (namesContent(value, OPAQUE_DEPTH)) to.addDocument();
}

const CONTENT_MEMBERS: ReadonlySet<string> = new Set([
  'url',
  'file_url',
  'file_id',
  'file_uri',
  'uri',
  'file_data',
]);

/** How deep members are looked for that name content. */
const OPAQUE_DEPTH = 3;

function namesContent(value: JsonObject, depth: number): boolean {
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string' && CONTENT_MEMBERS.has(name)) return true;
    if (depth > 1 && isJsonObject(member) && namesContent(member, depth - 1)) return true;
  }
  return false;
}
