import type { Item, Part, Source } from '../ir/items.ts';
import type { GenerationRequest, Tool } from '../ir/request.ts';
import type { Omission, Result } from '../ir/result.ts';
import type { Usage } from '../ir/usage.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { jsonLength } from '../kit/json/json-length.ts';
import { objectAt } from '../kit/json/members.ts';
import { tokensOfDearCharacters } from './dear-characters.ts';
import { type PixelSize, pixelSizeOf } from './pixel-size.ts';
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
  addImage(source?: Source): void;
  /** A file, a recording or a film; or something that names one. */
  addDocument(): void;
  /** Sealed thoughts, by their characters: some upstreams count what is in them. */
  addSeal(characters: number): void;
  /** Members that we do not model, which some upstream may read. */
  addUnmodelled(value: object): void;
}

/** What is usual: an image or a file counts as one picture, and what we do not model as nothing. */
abstract class UsualCount implements Counted {
  abstract addText(text: string): void;
  abstract addJson(value: object): void;
  abstract addTokens(tokens: number): void;

  addImage(): void {
    this.addTokens(MEDIA_TOKENS);
  }

  addDocument(): void {
    this.addTokens(MEDIA_TOKENS);
  }

  addSeal(): void {}

  addUnmodelled(): void {}
}

/** The length of something: nobody asks for more of most prompts. */
class Length extends UsualCount {
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

/** What a prompt may come to at the worst. */
export interface WorstPrompt {
  /** Bytes of all text in UTF-8: no tokenizer makes more tokens of it. */
  readonly bytes: number;
  /** Tokens that other tokenizers may make of its digits and rare letters, beyond half as much again as ours does. */
  readonly dearTokens: number;
  /** Tokens beyond those of the text that our tokenizer is shown. */
  readonly unseenTokens: number;
  readonly images: number;
  /** Of each of them; undefined = not known. */
  readonly imageSizes: readonly (PixelSize | undefined)[];
  /** Files, recordings and films: their tokens are known to the upstream alone. */
  readonly documents: number;
}

/** Characters of a sealed text for each token that an upstream may count of it. */
const SEAL_CHARACTERS = 4;

class Worst implements Counted, WorstPrompt {
  bytes = 0;
  dearTokens = 0;
  unseenTokens = 0;
  readonly imageSizes: (PixelSize | undefined)[] = [];
  documents = 0;

  get images(): number {
    return this.imageSizes.length;
  }

  addText(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.bytes += bytes;
    this.dearTokens += text.length > MOST_LOOKED_AT ? bytes : tokensOfDearCharacters(text);
  }

  addJson(value: object): void {
    this.addText(JSON.stringify(value));
  }

  addTokens(tokens: number): void {
    this.bytes += tokens;
  }

  addImage(source?: Source): void {
    this.imageSizes.push(source?.kind === 'base64' ? pixelSizeOf(source.data) : undefined);
  }

  addDocument(): void {
    this.documents += 1;
  }

  addSeal(characters: number): void {
    this.#addUnseen(Math.ceil(characters / SEAL_CHARACTERS));
  }

  addUnmodelled(value: object): void {
    this.#addUnseen(Buffer.byteLength(JSON.stringify(value)));
    if (has(value, isContent)) this.addDocument();
  }

  #addUnseen(tokens: number): void {
    this.unseenTokens += tokens;
    this.bytes += tokens;
  }
}

/** Longer texts are not looked at, so that no other request waits for it: each of their bytes may be a token. */
const MOST_LOOKED_AT = 1_000_000;

/** Something to be counted: texts for the tokenizer, and tokens that are known without it. */
class Countable extends UsualCount {
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
    webSearchRequests: searchesIn(result.items),
    source: 'estimated',
  };
}

/** Searches that an upstream ran, by the calls of its own tool that are in the answer. */
function searchesIn(items: readonly Item[]): number {
  return items.filter((item) => item.type === 'opaque' && isSearch(item.value)).length;
}

function isSearch({ type, name }: JsonObject): boolean {
  return type === 'web_search_call' || (type === 'server_tool_use' && name === 'web_search');
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
  #worst: WorstPrompt | undefined;

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

  /** What it may come to at the worst. Reads all of it. */
  get worst(): WorstPrompt {
    this.#worst ??= gather(this.#request, new Worst());
    return this.#worst;
  }

  /** Tokens, as our tokenizer sees them. Rejects with the reason of `signal`, and for no other. */
  count(tokenizer: Tokenizer, signal?: AbortSignal): Promise<number> {
    return gather(this.#request, new Countable()).count(tokenizer, signal);
  }
}

function gather<T extends Counted>(request: GenerationRequest, prompt: T): T {
  const { items, tools, outputFormat } = request;
  for (const item of items) addItem(item, prompt);
  for (const tool of tools) addTool(tool, prompt);
  if (outputFormat?.type === 'json-schema') prompt.addJson(outputFormat.schema);
  prompt.addTokens(items.length * MESSAGE_OVERHEAD);
  addUnmodelledFields(request, prompt);
  return prompt;
}

/** Hosted tools by which an upstream puts pages, files or what servers and programs say into the prompt. */
const READERS = /^(?:web_fetch|mcp|file_search|code_interpreter|code_execution|shell)/;

function addTool(tool: Tool, to: Counted): void {
  to.addJson(tool);
  if (tool.type === 'hosted' && READERS.test(tool.kind) && !isLocal(tool.value)) to.addDocument();
}

/** A shell that the caller runs: what it says comes with the next request. */
function isLocal(tool: JsonObject): boolean {
  return objectAt(tool, 'environment')?.type === 'local';
}

/** Fields of the body by which an upstream reads from servers or containers of its own. */
const READING_FIELDS = ['mcp_servers', 'container'];

function addUnmodelledFields({ body, ext, unknownFields }: GenerationRequest, to: Counted): void {
  for (const fields of Object.values(ext)) if (fields !== undefined) to.addUnmodelled(fields);
  for (const name of unknownFields) {
    const value = body[name];
    if (typeof value === 'object' && value !== null) to.addUnmodelled(value);
  }
  for (const name of READING_FIELDS) {
    if (typeof body[name] === 'object' && body[name] !== null) to.addDocument();
  }
}

function addItem(item: Item, to: Counted): void {
  if ('ext' in item && item.ext !== undefined) to.addUnmodelled(item.ext);
  switch (item.type) {
    case 'message':
    case 'tool-result':
      for (const part of item.content) addPart(part, to);
      return;
    case 'reasoning':
      for (const text of item.text) to.addText(text);
      for (const text of item.summary) to.addText(text);
      to.addSeal((item.signature?.length ?? 0) + (item.encrypted?.length ?? 0));
      return;
    case 'tool-call':
      to.addText(item.name);
      to.addText(item.input);
      to.addSeal(item.signature?.length ?? 0);
      return;
    case 'image':
      to.addImage(item.source);
      return;
    case 'opaque':
      to.addJson(item.value);
      // Calls of hosted tools name pages that are not read again.
      if (has(item.value, isFile)) to.addDocument();
      else if (has(item.value, isImage)) to.addImage();
      return;
  }
}

function addPart(part: Part, to: Counted): void {
  if ('ext' in part && part.ext !== undefined) to.addUnmodelled(part.ext);
  switch (part.type) {
    case 'text':
      to.addText(part.text);
      return;
    case 'refusal':
      to.addText(part.refusal);
      return;
    case 'opaque':
      to.addJson(part.value);
      if (has(part.value, isContent)) to.addDocument();
      return;
    case 'file':
      addFile(part.source, to);
      if (part.filename !== undefined) to.addUnmodelled([part.filename]);
      return;
    case 'image':
      to.addImage(part.source);
      return;
    case 'audio':
    case 'video':
      to.addDocument();
  }
}

/** Of a text the bytes are known, and no token is less than one of them. Any other file may hold any number of pages. */
function addFile(source: Source, to: Counted): void {
  if (source.kind === 'text') to.addText(source.text);
  else if (source.kind === 'base64' && isText(source)) to.addTokens(bytesOf(source.data));
  else to.addDocument();
}

const TEXT_TYPES = /^(?:text\/(?!pdf)|application\/(?:json|xml|yaml|javascript)\b)/i;

/** How files begin that are no text whatever the caller says: ZIP and what is made of it, gzip, old office files. */
const BINARY_BEGINNINGS = ['PK\x03\x04', '\x1f\x8b\x08', '\xd0\xcf\x11\xe0'];

/** Base64 of the bytes in which readers look for the beginning of a PDF: 1,024, and what is left of a mark of 8. */
const HEAD_CHARACTERS = 1_376;

/** The beginning of a file, a character for each byte. */
function headOf(base64: string): string {
  return Buffer.from(base64.slice(0, HEAD_CHARACTERS), 'base64').toString('latin1');
}

/** A text has no zeros, unless two bytes or four are one character: then it begins with a mark that says so. */
const WIDE_CHARACTERS = /^(?:\xff\xfe|\xfe\xff|\0\0\xfe\xff)/;

function isText({ mediaType, data }: Extract<Source, { kind: 'base64' }>): boolean {
  if (!TEXT_TYPES.test(mediaType)) return false;
  const head = headOf(data);
  return !isBinary(head) && (!head.includes('\0') || WIDE_CHARACTERS.test(head));
}

function isBinary(head: string): boolean {
  return head.includes('%PDF-') || BINARY_BEGINNINGS.some((beginning) => head.startsWith(beginning));
}

function bytesOf(base64: string): number {
  return Math.ceil((base64.length * 3) / 4);
}

/** A member of something that we do not model: its name, and its value where that is a text. */
type Trait = (name: string, text: string | undefined) => boolean;

/** It names or holds a file, which the upstream reads again with every turn. */
const isFile: Trait = (name, text) =>
  /^file_(?:id|url|uri|data)$/.test(name) ||
  (name === 'media_type' && text === 'application/pdf') ||
  (text !== undefined && isBinary(headOf(text)));

/** It names anything at all that only the upstream reads. */
const isContent: Trait = (name, text) =>
  /^(?:\w+_)?ur[li]$|^audio$|^(?:document_)?id$/.test(name) ||
  (text !== undefined && /^(?:https?:|data:|gs:|s3:)/i.test(text)) ||
  isFile(name, text);

const isImage: Trait = (name) => name === 'image_url';

/** How deep such members are looked for: deeper than any format nests them. */
const DEPTH = 8;

/** Whether some member is like that, in lists too. */
function has(value: object, trait: Trait, depth = DEPTH): boolean {
  for (const [name, member] of Object.entries(value)) {
    if (member === null || member === undefined || member === '') continue;
    if (trait(Array.isArray(value) ? '' : name, typeof member === 'string' ? member : undefined)) return true;
    if (depth > 1 && typeof member === 'object' && has(member, trait, depth - 1)) return true;
  }
  return false;
}
