import type {
  CacheMark,
  Ext,
  Item,
  MessageItem,
  OpaqueItem,
  Part,
  ReasoningItem,
  Source,
  ToolCallItem,
  ToolResultItem,
} from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { PieceRenderer } from '../shared/blocks/alternating-turns.ts';
import {
  foreignType,
  IMAGE_AS_TEXT,
  MADE_IMAGE,
  reportImageDetail,
  reportPhase,
  reportTextMembers,
} from '../shared/blocks/part-losses.ts';
import { textOfForeignPart } from '../shared/blocks/text-of-foreign-part.ts';
import { whyUnsealed } from '../shared/reasoning/claude-seals.ts';
import { NO_FIELD } from '../shared/report/field-fates.ts';
import type { Report } from '../shared/report/report.ts';
import { ADDITIONAL_TOOLS, reportToolsFromStart } from '../shared/tools/additional-tools.ts';
import { unsealedInput } from '../shared/tools/call-input.ts';
import { isMade } from './citations.ts';
import { toolUseId } from './ids.ts';
import { renderThoughts } from './reasoning.ts';
import type { RenderContext } from './render-context.ts';
import { reportForeignMembers } from './render-losses.ts';
import type { WireRole } from './wire.ts';

export class PartRenderer implements PieceRenderer<WireRole, JsonObject> {
  readonly #context: RenderContext;
  readonly #report: Report;

  constructor(context: RenderContext) {
    this.#context = context;
    this.#report = context.report;
  }

  get #format() {
    return this.#context.request.format;
  }

  /** Renders a message. Its id and status are left out without a report: the upstream stores no messages. */
  message(item: MessageItem, speaker: WireRole): JsonObject[] {
    this.reportForeignMembers(item);
    if (item.ext?.messages !== undefined && this.#context.target.quirks?.takesSystemTurns !== true) {
      for (const name of Object.keys(item.ext.messages))
        this.#report.dropped(this.#placeOf(item, name), NO_FIELD);
    }
    reportPhase(item, this.#report, NO_FIELD);
    return this.parts(item.content, speaker);
  }

  text(text: string): JsonObject {
    return { type: 'text', text };
  }

  /** `speaker`: role of the message. Only users and tools may send images and documents. */
  parts(parts: readonly Part[], speaker: WireRole): JsonObject[] {
    const blocks: JsonObject[] = [];
    for (const part of parts) {
      const block = this.#part(part, speaker);
      if (block !== undefined) blocks.push(block);
    }
    return blocks;
  }

  reasoning(item: ReasoningItem): JsonObject[] {
    const block = renderThoughts(item);
    if (block === undefined) return this.#drop(item, whyUnsealed(item));
    this.reportForeignMembers(item);
    return [block];
  }

  toolUse(item: ToolCallItem): JsonObject[] {
    this.reportForeignMembers(item);
    const input = unsealedInput(item, this.#report, this.#context.request.exactNumbers);
    const block: JsonObject = {
      type: 'tool_use',
      id: toolUseId(item.callId),
      name: this.#context.names.nameOf(item),
      input,
      ...item.ext?.messages,
    };
    return [this.#marked(block, item)];
  }

  toolResult(item: ToolResultItem): JsonObject[] {
    this.reportForeignMembers(item);
    const content = this.parts(item.content, 'user');
    const block: JsonObject = {
      type: 'tool_result',
      tool_use_id: toolUseId(item.callId),
      ...(content.length > 0 && { content }),
      ...(item.isError !== undefined && { is_error: item.isError }),
      ...item.ext?.messages,
    };
    return [this.#marked(block, item)];
  }

  image(item: Item): [] {
    return this.#drop(item, MADE_IMAGE);
  }

  opaque(item: OpaqueItem): JsonObject[] {
    if (item.dialect === 'messages') return [this.#adopted(item)];
    if (item.value.type === ADDITIONAL_TOOLS) {
      reportToolsFromStart(item, this.#context.report);
      return [];
    }
    return this.#drop(item, `an item ${foreignType(item.value)}`);
  }

  roleOfOpaque({ role }: OpaqueItem): WireRole {
    return role === 'user' || role === 'system' ? role : 'assistant';
  }

  reportForeignMembers(thing: { readonly ext?: Ext }): void {
    reportForeignMembers(thing, 'items', this.#report);
  }

  #part(part: Part, speaker: WireRole): JsonObject | undefined {
    if (this.#format !== 'messages' && speaker !== 'user' && MEDIA.has(part.type)) {
      this.#drop(part, `${speaker} messages take only text`);
      return undefined;
    }
    switch (part.type) {
      case 'text':
        return this.#text(part);
      case 'refusal':
        this.reportForeignMembers(part);
        return part.refusal === '' ? undefined : { type: 'text', text: part.refusal };
      case 'image':
        return this.#image(part);
      case 'file':
        return this.#file(part);
      case 'audio':
      case 'video':
        this.#drop(part, `${part.type} content: the upstream takes none`);
        return undefined;
      case 'opaque':
        return part.dialect === 'messages' ? this.#adopted(part) : this.#foreignPart(part);
    }
  }

  #foreignPart(part: Extract<Part, { type: 'opaque' }>): JsonObject | undefined {
    const text = textOfForeignPart(part, this.#report, NO_FIELD);
    if (text !== undefined) return this.#text(this.#report.standIn(text, part));
    this.#drop(part, `content ${foreignType(part.value)}`);
    return undefined;
  }

  #text(part: Extract<Part, { type: 'text' }>): JsonObject | undefined {
    reportTextMembers(part, this.#report, NO_FIELD);
    this.reportForeignMembers(part);
    if (part.text !== '') {
      const block: JsonObject = { type: 'text', text: part.text, ...this.#withoutMadeCitations(part) };
      return this.#marked(block, part);
    }
    // Upstreams refuse empty text.
    if (part.cache !== undefined) {
      this.#report.dropped(this.#placeOf(part, 'cache_control'), 'an empty text cannot carry it');
    }
    return undefined;
  }

  /** Fields of this dialect, without citations that the gateway made. */
  #withoutMadeCitations(part: Extract<Part, { type: 'text' }>): JsonObject {
    const fields = part.ext?.messages;
    if (!Array.isArray(fields?.citations) || !fields.citations.some(isMade)) return fields ?? {};
    const { citations, ...rest } = fields;
    const kept = fields.citations.filter((citation) => !isMade(citation));
    this.#report.dropped(this.#placeOf(part, 'citations'), FOREIGN_CITATIONS);
    return kept.length > 0 ? { ...rest, citations: kept } : rest;
  }

  #image(part: Extract<Part, { type: 'image' }>): JsonObject | undefined {
    if (part.source.kind === 'text') {
      this.#drop(part, IMAGE_AS_TEXT);
      return undefined;
    }
    this.reportForeignMembers(part);
    reportImageDetail(part, this.#report, NO_FIELD);
    return this.#sourced('image', part.source, part, part.ext?.messages);
  }

  #file(part: Extract<Part, { type: 'file' }>): JsonObject | undefined {
    const { source, filename } = part;
    this.reportForeignMembers(part);
    if (source.kind === 'base64' && source.mediaType.startsWith('image/')) {
      if (filename !== undefined) {
        this.#report.dropped(
          this.#placeOf(part, this.#report.form.paths.inPart('file', 'filename')),
          'images have no name',
        );
      }
      return this.#sourced('image', source, part, undefined);
    }
    const readable: Source =
      source.kind === 'base64' && isPlainText(source.mediaType)
        ? { kind: 'text', mediaType: 'text/plain', text: Buffer.from(source.data, 'base64').toString() }
        : source;
    const title = filename === undefined ? {} : { title: filename };
    return this.#sourced('document', readable, part, { ...title, ...part.ext?.messages });
  }

  #sourced(
    type: 'image' | 'document',
    source: Source,
    part: Extract<Part, { type: 'image' | 'file' }>,
    rest: JsonObject | undefined,
  ): JsonObject | undefined {
    const mediaType = source.kind === 'base64' ? source.mediaType.toLowerCase() : '';
    const readable = TYPES[type].get(mediaType);
    if (source.kind === 'base64' && readable === undefined && this.#format !== 'messages') {
      this.#drop(part, `the upstream reads no ${type} of type ${mediaType.slice(0, 64)}`);
      return undefined;
    }
    const sent = {
      ...renderSource(source),
      ...(readable !== undefined && { media_type: readable }),
    };
    return this.#marked({ type, source: sent, ...rest }, part);
  }

  #marked(block: JsonObject, thing: { readonly cache?: CacheMark }): JsonObject {
    return this.#context.marks.put(block, thing.cache, () => this.#placeOf(thing, 'cache_control'));
  }

  #adopted(thing: { readonly value: JsonObject }): JsonObject {
    return this.#context.marks.adopt(thing.value, () => this.#placeOf(thing, 'cache_control'));
  }

  #drop(thing: object, detail: string): [] {
    this.#report.dropped(this.#placeOf(thing), detail);
    return [];
  }

  #placeOf(thing: object, member?: string): string {
    return this.#report.place(thing, 'items', member);
  }
}

/** Media types that upstreams accept in base64, by the callers' names. */
const TYPES: Readonly<Record<'image' | 'document', ReadonlyMap<string, string>>> = {
  image: new Map([
    ['image/jpeg', 'image/jpeg'],
    ['image/jpg', 'image/jpeg'],
    ['image/png', 'image/png'],
    ['image/gif', 'image/gif'],
    ['image/webp', 'image/webp'],
  ]),
  document: new Map([['application/pdf', 'application/pdf']]),
};

/** Report detail of a citation in an earlier turn. */
export const FOREIGN_CITATIONS = 'citations that another model family made';

const MEDIA: ReadonlySet<Part['type']> = new Set(['image', 'file']);

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
