import type { Item, Part, Source } from '../ir/items.ts';
import type { GenerationRequest, Tool } from '../ir/request.ts';
import type { Omission, Result } from '../ir/result.ts';
import type { Usage } from '../ir/usage.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { jsonLength } from '../kit/json/json-length.ts';
import { objectAt } from '../kit/json/members.ts';
import { extraTokensOf } from './extra-tokens.ts';
import { type PixelSize, pixelSizeOf } from './pixel-size.ts';
import { charactersOf } from './text-slices.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Estimate for an image, file or recording of unknown size: about one picture of common resolution. */
const MEDIA_TOKENS = 765;

/** Average of common text. */
const CHARACTERS_PER_TOKEN = 4;

/** Role and separators of a message. */
const MESSAGE_OVERHEAD_TOKENS = 4;

/** Visitor of all countable parts of a prompt or answer. */
interface PartCounter {
  addText(text: string): void;
  /** A value that is sent as JSON. */
  addJson(value: object): void;
  addTokens(tokens: number): void;
  addImage(source?: Source): void;
  /** A file, recording or video, or a reference to one. */
  addDocument(): void;
  /** A seal, by its length: some upstreams count its content. */
  addSeal(characters: number): void;
  /** Members outside our model, which an upstream may read. */
  addUnmodelled(value: object): void;
}

/** Typical count: an image or file is one picture; seals and unmodelled members are nothing. */
abstract class TypicalCounter implements PartCounter {
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

/** Counts characters only, which is cheap and enough for most prompts. */
class CharacterCounter extends TypicalCounter {
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

/** Upper bounds of a prompt. */
export interface WorstPrompt {
  /** UTF-8 bytes of all text: no tokenizer makes more tokens of it. */
  readonly bytes: number;
  /** Tokens that other tokenizers may count beyond 1.5 times our count. */
  readonly extraTokens: number;
  /** Tokens of seals and unmodelled members, which our tokenizer does not see. */
  readonly unseenTokens: number;
  readonly images: number;
  /** Size of each image; undefined = unknown. */
  readonly imageSizes: readonly (PixelSize | undefined)[];
  /** Files, recordings and videos, whose tokens only the upstream knows. */
  readonly documents: number;
}

/** Characters of a seal per token of its content. */
const SEAL_CHARACTERS = 4;

class WorstCounter implements PartCounter, WorstPrompt {
  bytes = 0;
  extraTokens = 0;
  unseenTokens = 0;
  readonly imageSizes: (PixelSize | undefined)[] = [];
  documents = 0;

  get images(): number {
    return this.imageSizes.length;
  }

  addText(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.bytes += bytes;
    this.extraTokens += text.length > MAX_EXAMINED_CHARACTERS ? bytes : extraTokensOf(text);
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

/** Longer texts are not examined, to keep the event loop free; each of their bytes counts as a token. */
const MAX_EXAMINED_CHARACTERS = 1_000_000;

/** Collects texts for the tokenizer, and tokens that are known without it. */
class TokenCollector extends TypicalCounter {
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

/** Tokens of a prompt by our tokenizer. */
export async function countPrompt(
  request: GenerationRequest,
  tokenizer: Tokenizer,
  signal?: AbortSignal,
): Promise<number> {
  return new Prompt(request).count(tokenizer, signal);
}

/** Estimates the usage of an answer whose upstream reported none. Cannot be aborted: every answer is charged. */
export async function estimateUsage(
  request: GenerationRequest,
  result: Result,
  tokenizer: Tokenizer,
): Promise<Usage> {
  const reasoning = new TokenCollector();
  const rest = new TokenCollector();
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

/** Searches of the upstream, counted by its tool calls in the answer. */
function searchesIn(items: readonly Item[]): number {
  return items.filter((item) => item.type === 'opaque' && isSearch(item.value)).length;
}

function isSearch({ type, name }: JsonObject): boolean {
  return type === 'web_search_call' || (type === 'server_tool_use' && name === 'web_search');
}

/** Scales the tokens of a sample up to the omitted text. */
async function countOmitted(omission: Omission | undefined, tokenizer: Tokenizer): Promise<number> {
  if (omission === undefined || omission.characters === 0) return 0;
  const { characters, sample } = omission;
  return Math.ceil(((await tokenizer.count(sample)) * characters) / charactersOf(sample));
}

/** The prompt of a request; caches its measures, because several steps of a generation need them. */
export class Prompt {
  readonly #request: GenerationRequest;
  #characters: number | undefined;
  #worst: WorstPrompt | undefined;

  constructor(request: GenerationRequest) {
    this.#request = request;
  }

  /** Characters, plus 1 for each token of media and overhead: cheap, and enough to see that no limit is near. */
  get characters(): number {
    this.#characters ??= gather(this.#request, new CharacterCounter()).characters;
    return this.#characters;
  }

  /** Estimate of tokens. */
  get estimatedTokens(): number {
    return Math.ceil(this.characters / CHARACTERS_PER_TOKEN);
  }

  /** Upper bounds. Reads the whole prompt. */
  get worst(): WorstPrompt {
    this.#worst ??= gather(this.#request, new WorstCounter());
    return this.#worst;
  }

  /** Tokens by our tokenizer. Rejects only with the reason of `signal`. */
  count(tokenizer: Tokenizer, signal?: AbortSignal): Promise<number> {
    return gather(this.#request, new TokenCollector()).count(tokenizer, signal);
  }
}

function gather<T extends PartCounter>(request: GenerationRequest, prompt: T): T {
  const { items, tools, outputFormat } = request;
  for (const item of items) addItem(item, prompt);
  for (const tool of tools) addTool(tool, prompt);
  if (outputFormat?.type === 'json-schema') prompt.addJson(outputFormat.schema);
  prompt.addTokens(items.length * MESSAGE_OVERHEAD_TOKENS);
  addUnmodelledFields(request, prompt);
  return prompt;
}

/** Hosted tools through which the upstream adds pages, files or outputs to the prompt. */
const READERS = /^(?:web_fetch|mcp|file_search|code_interpreter|code_execution|shell)/;

function addTool(tool: Tool, to: PartCounter): void {
  to.addJson(tool);
  if (tool.type === 'hosted' && READERS.test(tool.kind) && !isLocal(tool.value)) to.addDocument();
}

/** A shell that the caller runs: its output comes with the next request. */
function isLocal(tool: JsonObject): boolean {
  return objectAt(tool, 'environment')?.type === 'local';
}

/** Body fields that make the upstream read from servers or containers. */
const READING_FIELDS = ['mcp_servers', 'container'];

function addUnmodelledFields({ body, ext, unknownFields }: GenerationRequest, to: PartCounter): void {
  for (const fields of Object.values(ext)) if (fields !== undefined) to.addUnmodelled(fields);
  for (const name of unknownFields) {
    const value = body[name];
    if (typeof value === 'object' && value !== null) to.addUnmodelled(value);
  }
  for (const name of READING_FIELDS) {
    if (typeof body[name] === 'object' && body[name] !== null) to.addDocument();
  }
}

function addItem(item: Item, to: PartCounter): void {
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
      // Only files and images: pages that calls of hosted tools name are not read again.
      if (has(item.value, isFile)) to.addDocument();
      else if (has(item.value, isImage)) to.addImage();
      return;
  }
}

function addPart(part: Part, to: PartCounter): void {
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

/** A text file has at most one token per byte; any other file may hold any number of pages. */
function addFile(source: Source, to: PartCounter): void {
  if (source.kind === 'text') to.addText(source.text);
  else if (source.kind === 'base64' && isText(source)) to.addTokens(bytesOf(source.data));
  else to.addDocument();
}

const TEXT_TYPES = /^(?:text\/(?!pdf)|application\/(?:json|xml|yaml|javascript)\b)/i;

/** Magic bytes of files that are not text, whatever the declared type: ZIP, gzip, old office files. */
const BINARY_BEGINNINGS = ['PK\x03\x04', '\x1f\x8b\x08', '\xd0\xcf\x11\xe0'];

/** Base64 characters of the first 1,024 bytes, in which readers search for `%PDF-`, and a remainder of the mark. */
const HEAD_CHARACTERS = 1_376;

/** The first bytes of a file, as latin1. */
function headOf(base64: string): string {
  return Buffer.from(base64.slice(0, HEAD_CHARACTERS), 'base64').toString('latin1');
}

/** Byte order marks of UTF-16 and UTF-32: other text has no zero bytes. */
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

/** Test of an unmodelled member: its name, and its value if that is a string. */
type Trait = (name: string, text: string | undefined) => boolean;

/** Holds or references a file, which the upstream reads again with every turn. */
const isFile: Trait = (name, text) =>
  /^file_(?:id|url|uri|data)$/.test(name) ||
  (name === 'media_type' && text === 'application/pdf') ||
  (text !== undefined && isBinary(headOf(text)));

/** References anything that only the upstream can read. */
const isContent: Trait = (name, text) =>
  /^(?:\w+_)?ur[li]$|^audio$|^(?:document_)?id$/.test(name) ||
  (text !== undefined && /^(?:https?:|data:|gs:|s3:)/i.test(text)) ||
  isFile(name, text);

const isImage: Trait = (name) => name === 'image_url';

/** Search depth: deeper than any format nests such members. */
const MAX_DEPTH = 8;

/** True if any member matches, in lists too. */
function has(value: object, trait: Trait, depth = MAX_DEPTH): boolean {
  for (const [name, member] of Object.entries(value)) {
    if (member === null || member === undefined || member === '') continue;
    if (trait(Array.isArray(value) ? '' : name, typeof member === 'string' ? member : undefined)) return true;
    if (depth > 1 && typeof member === 'object' && has(member, trait, depth - 1)) return true;
  }
  return false;
}
