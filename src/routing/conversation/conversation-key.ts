import { hash } from 'node:crypto';
import type { Item, Part, Source } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';

/** What the requests of one conversation have in common. Its key is digested on first use. */
export class ConversationKey {
  /** `explicit`: the caller named the conversation. `opening`: told by how it begins. */
  readonly kind: 'explicit' | 'opening';
  readonly #words: () => string;
  #key: string | undefined;

  constructor(kind: ConversationKey['kind'], words: () => string) {
    this.kind = kind;
    this.#words = words;
  }

  /** A digest: of one account and one model, and it tells nothing about the conversation. */
  get key(): string {
    this.#key ??= hash('sha256', this.#words(), 'base64url');
    return this.#key;
  }
}

/** Whose conversation it is, and with which model. */
export interface ConversationScope {
  readonly accountId: string;
  /** As the request is routed by: of router models the router's. */
  readonly modelId: string;
  /** `x-session-id`. */
  readonly sessionHeader?: string;
}

/** Characters of a message that tell it from others: conversations may be as long as they like. */
const TOLD_BY = 65_536;

/** Characters of a picture or file that tell it from others. */
const MEDIA_TOLD_BY = 1024;

/** The conversation that a request belongs to; undefined when nothing tells. */
export function conversationKeyOf(
  request: Pick<GenerationRequest, 'items' | 'wishes' | 'promptCacheKey'>,
  { accountId, modelId, sessionHeader }: ConversationScope,
): ConversationKey | undefined {
  const name = explicitName(request, sessionHeader);
  if (name !== undefined) {
    return new ConversationKey('explicit', () => put(accountId) + put(modelId) + put(name[0]) + put(name[1]));
  }
  const { items } = request;
  if (!items.some(isTelling)) return undefined;
  return new ConversationKey(
    'opening',
    () => put(accountId) + put(modelId) + put('opening') + openingOf(items),
  );
}

/** A session id and a cache key that happen to be the same text are two names. */
function explicitName(
  { wishes, promptCacheKey }: Pick<GenerationRequest, 'wishes' | 'promptCacheKey'>,
  sessionHeader: string | undefined,
): readonly [string, string] | undefined {
  const session = wishes.sessionId || sessionHeader;
  if (session) return ['session', session];
  return promptCacheKey ? ['prompt_cache_key', promptCacheKey] : undefined;
}

/** The first instructions and the first thing that is said or done. */
function openingOf(items: readonly Item[]): string {
  const instructions = items.find(isInstruction);
  const beginning = items.find(isBeginning);
  return wordsOfItem(instructions) + wordsOfItem(beginning);
}

const TELLING: ReadonlySet<Item['type']> = new Set<Item['type']>(['message', 'tool-call', 'tool-result']);

function isInstruction(item: Item): boolean {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

function isBeginning(item: Item): boolean {
  return !isInstruction(item) && isTelling(item);
}

function isTelling({ type }: Item): boolean {
  return TELLING.has(type);
}

function wordsOfItem(item: Item | undefined): string {
  if (item === undefined) return '';
  switch (item.type) {
    case 'message':
      return put(item.type) + put(item.role) + wordsOfParts(item.content);
    case 'tool-result':
      return put(item.type) + wordsOfParts(item.content);
    case 'tool-call':
      return put(item.type) + put(item.name) + put(item.input, TOLD_BY);
    default:
      return put(item.type);
  }
}

function wordsOfParts(parts: readonly Part[]): string {
  let words = '';
  let left = TOLD_BY;
  for (const part of parts) {
    if (left <= 0) return words;
    const [text, most] = wordsOf(part);
    words += put(part.type) + put(text, Math.min(left, most));
    // A part without words counts too: there may be many.
    left -= Math.min(text.length, most) + 1;
  }
  return words;
}

/** The text that tells a part from others, and how much of it is looked at. */
function wordsOf(part: Part): readonly [text: string, most: number] {
  switch (part.type) {
    case 'text':
      return [part.text, TOLD_BY];
    case 'refusal':
      return [part.refusal, TOLD_BY];
    case 'image':
    case 'file':
      return [wordsOfSource(part.source), MEDIA_TOLD_BY];
    case 'audio':
      return [part.data, MEDIA_TOLD_BY];
    case 'video':
      return [part.url, MEDIA_TOLD_BY];
    case 'opaque':
      return ['', 0];
  }
}

function wordsOfSource(source: Source): string {
  switch (source.kind) {
    case 'url':
      return source.url;
    case 'base64':
      return source.data;
    case 'text':
      return source.text;
    case 'file-id':
      return source.fileId;
  }
}

/** Length first, so that no two lists of texts are the same. */
function put(text: string, most: number = text.length): string {
  return `${text.length}:${text.length > most ? text.slice(0, most) : text}`;
}
