import type {
  CacheMark,
  Ext,
  Item,
  MessageItem,
  Part,
  Source,
  ToolCallItem,
  ToolResultItem,
} from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json.ts';
import { renderCacheMark } from '../gateway-fields.ts';
import type { Report } from '../report.ts';
import { flatArguments, flatToolName } from '../tool-names.ts';
import { isMade } from './citations.ts';
import { renderReasoning } from './reasoning.ts';
import { inputObject, toolUseId } from './tool-use.ts';
import type { WireRole } from './wire.ts';

/** The conversation as an upstream of this dialect takes it. */
export interface RenderedConversation {
  readonly system: JsonObject[];
  readonly messages: JsonObject[];
}

/** System prompts at the front become `system`; everything else becomes turns. */
export function renderConversation(request: GenerationRequest, report: Report): RenderedConversation {
  const firstTurn = request.items.findIndex((item) => !isSystem(item));
  const lead = firstTurn === -1 ? request.items : request.items.slice(0, firstTurn);
  const prompts = lead.filter(isSystem);
  const turns = new Turns(request, report);
  if (firstTurn === -1) turns.addPromptAsUser(prompts.pop());
  else for (const item of request.items.slice(firstTurn)) turns.add(item);
  return {
    system: prompts.flatMap((prompt) => turns.partBlocks(prompt.content)),
    messages: turns.messages(),
  };
}

function isSystem(item: Item): item is MessageItem {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

/** Collects blocks into turns of alternating roles. */
class Turns {
  readonly #turns: { readonly role: WireRole; readonly blocks: JsonObject[] }[] = [];
  /** Callers of this very format put system prompts between turns and mean them there. */
  readonly #keepsSystem: boolean;
  readonly #report: Report;

  constructor(request: GenerationRequest, report: Report) {
    this.#keepsSystem = request.format === 'messages';
    this.#report = report;
  }

  add(item: Item): void {
    this.#push(...this.#turnOf(item));
  }

  /** A conversation of system prompts alone needs a turn: the last of them speaks as the user. */
  addPromptAsUser(prompt: MessageItem | undefined): void {
    if (prompt === undefined) return;
    this.#report.coerced(this.#report.name('items'), 'the last system message became a user message');
    this.#push('user', this.partBlocks(prompt.content));
  }

  partBlocks(parts: readonly Part[]): JsonObject[] {
    return parts.map((part) => this.#partBlock(part)).filter((block) => block !== undefined);
  }

  /** Turns in order; in a user turn the results of tools come first, as upstreams demand. */
  messages(): JsonObject[] {
    return this.#turns.map(({ role, blocks }) => ({
      role,
      content:
        role === 'user'
          ? [...blocks.filter(isToolResult), ...blocks.filter((b) => !isToolResult(b))]
          : blocks,
    }));
  }

  #push(role: WireRole, blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else this.#turns.push({ role, blocks: [...blocks] });
  }

  #turnOf(item: Item): [WireRole, JsonObject[]] {
    switch (item.type) {
      case 'message':
        return this.#messageTurn(item);
      case 'reasoning': {
        const block = renderReasoning(item);
        return ['assistant', block === undefined ? this.#drop('reasoning of another model family') : [block]];
      }
      case 'tool-call':
        return ['assistant', [this.#toolUse(item)]];
      case 'tool-result':
        return ['user', [this.#toolResult(item)]];
      case 'image':
        return ['assistant', this.#drop('an image that a model made: assistant turns take none')];
      case 'opaque': {
        const isNative = item.dialect === 'messages';
        return [roleOf(item.role), isNative ? [item.value] : this.#drop(`an item ${typeOf(item.value)}`)];
      }
    }
  }

  #messageTurn({ role, content }: MessageItem): [WireRole, JsonObject[]] {
    const blocks = this.partBlocks(content);
    if (role === 'user' || role === 'assistant') return [role, blocks];
    if (this.#keepsSystem) return ['system', blocks];
    this.#report.coerced(this.#report.name('items'), 'a system message between turns became user text');
    return ['user', [{ type: 'text', text: '<system>' }, ...blocks, { type: 'text', text: '</system>' }]];
  }

  /** Tells what is left out, and stands for the blocks that it would have been. */
  #drop(detail: string): [] {
    this.#report.dropped(this.#report.name('items'), detail);
    return [];
  }

  #toolUse(item: ToolCallItem): JsonObject {
    const text = flatArguments(item);
    const input = inputObject(text);
    if (input === undefined) {
      this.#report.coerced(
        this.#report.name('items'),
        'arguments of an earlier call that are no JSON object were put into a member "raw"',
      );
    }
    return {
      type: 'tool_use',
      id: toolUseId(item.callId),
      name: flatToolName(item.name, item.namespace),
      input: input ?? { raw: text },
      ...markOf(item),
      ...item.ext?.messages,
    };
  }

  #toolResult(item: ToolResultItem): JsonObject {
    const content = this.partBlocks(item.content);
    return {
      type: 'tool_result',
      tool_use_id: toolUseId(item.callId),
      ...(content.length > 0 && { content }),
      ...(item.isError !== undefined && { is_error: item.isError }),
      ...markOf(item),
      ...item.ext?.messages,
    };
  }

  #partBlock(part: Part): JsonObject | undefined {
    switch (part.type) {
      case 'text':
        // Upstreams refuse empty text.
        if (part.text === '') return undefined;
        return { type: 'text', text: part.text, ...markOf(part), ...withoutMadeCitations(part.ext) };
      case 'refusal':
        return part.refusal === '' ? undefined : { type: 'text', text: part.refusal };
      case 'image':
        return this.#sourced('image', part.source, { ...markOf(part), ...part.ext?.messages });
      case 'file':
        return this.#file(part);
      case 'audio':
      case 'video':
        this.#drop(`${part.type} content: the upstream takes none`);
        return undefined;
      case 'opaque':
        if (part.dialect === 'messages') return part.value;
        this.#drop(`content ${typeOf(part.value)}`);
        return undefined;
    }
  }

  #file(part: Extract<Part, { type: 'file' }>): JsonObject | undefined {
    const { source } = part;
    if (source.kind === 'base64' && source.mediaType.startsWith('image/')) {
      return this.#sourced('image', source, markOf(part));
    }
    const readable: Source =
      source.kind === 'base64' && isPlainText(source.mediaType)
        ? { kind: 'text', mediaType: 'text/plain', text: Buffer.from(source.data, 'base64').toString() }
        : source;
    return this.#sourced('document', readable, {
      ...(part.filename !== undefined && { title: part.filename }),
      ...markOf(part),
      ...part.ext?.messages,
    });
  }

  #sourced(type: 'image' | 'document', source: Source, rest: JsonObject): JsonObject | undefined {
    if (type === 'image' && source.kind === 'text') {
      this.#drop('an image given as text');
      return undefined;
    }
    return { type, source: renderSource(source), ...rest };
  }
}

function isToolResult(block: JsonObject): boolean {
  return block.type === 'tool_result';
}

function typeOf(value: JsonObject): string {
  return `of type ${JSON.stringify(value.type ?? null)} of another format`;
}

function roleOf(role: string | undefined): WireRole {
  return role === 'user' || role === 'system' ? role : 'assistant';
}

function markOf(value: { readonly cache?: CacheMark }): JsonObject {
  return value.cache === undefined ? {} : { cache_control: renderCacheMark(value.cache) };
}

/** Fields of this dialect, without citations that only we can have made. */
function withoutMadeCitations(ext: Ext | undefined): JsonObject {
  const fields = ext?.messages;
  if (fields === undefined || !Array.isArray(fields.citations)) return fields ?? {};
  const { citations, ...rest } = fields;
  const kept = citations.filter((citation) => !isMade(citation));
  return kept.length > 0 ? { ...rest, citations: kept } : rest;
}

function isPlainText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}

function renderSource(source: Source): JsonObject {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text };
    case 'file-id':
      return { type: 'file', file_id: source.fileId };
  }
}
