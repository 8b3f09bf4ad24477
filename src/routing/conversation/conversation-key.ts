import { hash } from 'node:crypto';
import type { Item, Part, Source } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';

/** Identifies the conversation that a request belongs to. The key is computed on first use. */
export class ConversationKey {
  /** `explicit`: the caller named the conversation. `opening`: identified by its first messages. */
  readonly kind: 'explicit' | 'opening';
  readonly #text: () => string;
  #key: string | undefined;

  constructor(kind: ConversationKey['kind'], text: () => string) {
    this.kind = kind;
    this.#text = text;
  }

  /** A digest, specific to account and model, that reveals nothing about the conversation. */
  get key(): string {
    this.#key ??= hash('sha256', this.#text(), 'base64url');
    return this.#key;
  }
}

export interface ConversationScope {
  readonly accountId: string;
  /** The id that the request names; for a router, the router's own id. */
  readonly modelId: string;
  /** `x-session-id`. */
  readonly sessionHeader?: string | undefined;
}

/** Characters of a message that enter the key, so that its cost is bounded. */
const MAX_KEY_CHARACTERS = 65_536;

/** Characters of an image or file that enter the key. */
const MAX_MEDIA_CHARACTERS = 1024;

/** The conversation of a request; undefined if nothing identifies it. */
export function conversationKeyOf(
  request: Pick<GenerationRequest, 'items' | 'wishes' | 'promptCacheKey'>,
  { accountId, modelId, sessionHeader }: ConversationScope,
): ConversationKey | undefined {
  const name = explicitName(request, sessionHeader);
  if (name !== undefined) {
    return new ConversationKey(
      'explicit',
      () => withLength(accountId) + withLength(modelId) + withLength(name[0]) + withLength(name[1]),
    );
  }
  const { items } = request;
  if (!items.some(isIdentifying)) return undefined;
  return new ConversationKey(
    'opening',
    () => withLength(accountId) + withLength(modelId) + withLength('opening') + openingOf(items),
  );
}

/** Kind and name: a session id and a cache key with the same text are different conversations. */
function explicitName(
  { wishes, promptCacheKey }: Pick<GenerationRequest, 'wishes' | 'promptCacheKey'>,
  sessionHeader: string | undefined,
): readonly [string, string] | undefined {
  const session = wishes.sessionId || sessionHeader;
  if (session) return ['session', session];
  return promptCacheKey ? ['prompt_cache_key', promptCacheKey] : undefined;
}

/** The first instructions and the first item after them. */
function openingOf(items: readonly Item[]): string {
  const instructions = items.find(isInstruction);
  const firstTurn = items.find(isFirstTurn);
  return textOfItem(instructions) + textOfItem(firstTurn);
}

const IDENTIFYING_TYPES: ReadonlySet<Item['type']> = new Set<Item['type']>([
  'message',
  'tool-call',
  'tool-result',
]);

function isInstruction(item: Item): boolean {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

function isFirstTurn(item: Item): boolean {
  return !isInstruction(item) && isIdentifying(item);
}

function isIdentifying({ type }: Item): boolean {
  return IDENTIFYING_TYPES.has(type);
}

function textOfItem(item: Item | undefined): string {
  if (item === undefined) return '';
  switch (item.type) {
    case 'message':
      return withLength(item.type) + withLength(item.role) + textOfParts(item.content);
    case 'tool-result':
      return withLength(item.type) + textOfParts(item.content);
    case 'tool-call':
      return withLength(item.type) + withLength(item.name) + withLength(item.input, MAX_KEY_CHARACTERS);
    default:
      return withLength(item.type);
  }
}

function textOfParts(parts: readonly Part[]): string {
  let all = '';
  let left = MAX_KEY_CHARACTERS;
  for (const part of parts) {
    if (left <= 0) return all;
    const [text, most] = textOfPart(part);
    all += withLength(part.type) + withLength(text, Math.min(left, most));
    // Plus 1, because there may be many parts without text.
    left -= Math.min(text.length, most) + 1;
  }
  return all;
}

/** The text that identifies a part, and how many characters of it enter the key. */
function textOfPart(part: Part): readonly [text: string, most: number] {
  switch (part.type) {
    case 'text':
      return [part.text, MAX_KEY_CHARACTERS];
    case 'refusal':
      return [part.refusal, MAX_KEY_CHARACTERS];
    case 'image':
    case 'file':
      return [textOfSource(part.source), MAX_MEDIA_CHARACTERS];
    case 'audio':
      return [part.data, MAX_MEDIA_CHARACTERS];
    case 'video':
      return [part.url, MAX_MEDIA_CHARACTERS];
    case 'opaque':
      return ['', 0];
  }
}

function textOfSource(source: Source): string {
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

/** Prefixes a text with its length, so that different lists of texts never concatenate to the same string. */
function withLength(text: string, most: number = text.length): string {
  return `${text.length}:${text.length > most ? text.slice(0, most) : text}`;
}
