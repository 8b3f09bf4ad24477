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
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { booleanAt, objectAt, objectsAt, stringAt, textAt } from '../../kit/json/members.ts';
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
import { textOfToolReference } from '../shared/blocks/tool-reference.ts';
import { whyUnsealed } from '../shared/reasoning/claude-seals.ts';
import { NO_FIELD } from '../shared/report/field-fates.ts';
import type { Report } from '../shared/report/report.ts';
import { parseCacheMark } from '../shared/requests/gateway-fields.ts';
import { ADDITIONAL_TOOLS, reportToolsFromStart } from '../shared/tools/additional-tools.ts';
import { unsealedInput } from '../shared/tools/call-input.ts';
import {
  DocumentNames,
  documentMedia,
  imageMedia,
  type Media,
  type Obstacle,
  videoMedia,
  withoutExtension,
} from './media.ts';
import { renderThoughts } from './reasoning.ts';
import type { Mark, Piece, RenderContext } from './render-context.ts';
import { reportForeignMembers } from './render-losses.ts';
import { AUDIO_FORMATS, type Speaker, textBlock, type WireRole } from './wire.ts';

type FilePart = Extract<Part, { type: 'file' }>;
type OpaquePart = Extract<Part, { type: 'opaque' }>;

export class PartRenderer implements PieceRenderer<WireRole, Piece> {
  readonly #context: RenderContext;
  readonly #report: Report;
  readonly #documentNames = new DocumentNames();

  constructor(context: RenderContext) {
    this.#context = context;
    this.#report = context.report;
  }

  /** Renders a message. Its id and status are left out without a report: the upstream stores no messages. */
  message(item: MessageItem, speaker: Speaker): Piece[] {
    this.reportForeignMembers(item);
    reportPhase(item, this.#report, NO_FIELD);
    return this.parts(item.content, speaker);
  }

  text(text: string): Piece {
    return { block: textBlock(text) };
  }

  /** `speaker`: role of the message. Only users and tools may send images and documents. */
  parts(parts: readonly Part[], speaker: Speaker): Piece[] {
    return parts.flatMap((part) => this.#part(part, speaker));
  }

  reasoning(item: ReasoningItem): Piece[] {
    if (this.#context.traits.reasoning !== 'thinking') {
      return this.#drop(item, 'the model takes no reasoning of earlier turns');
    }
    const block = renderThoughts(item);
    if (block === undefined) return this.#drop(item, whyUnsealed(item));
    this.reportForeignMembers(item);
    return [{ block }];
  }

  toolUse(item: ToolCallItem): Piece[] {
    this.reportForeignMembers(item);
    const input = unsealedInput(item, this.#report, this.#context.request.exactNumbers);
    const name = this.#context.names.nameOf(item);
    const block = { toolUse: { name, input } };
    return [{ block, call: item, ...this.#markOf(item, item.cache) }];
  }

  toolResult(item: ToolResultItem): Piece[] {
    this.reportForeignMembers(item);
    const pieces = this.parts(item.content, 'user');
    const isFailure = item.isError === true;
    const marksFailure = isFailure && this.#context.traits.hasResultStatus === true;
    const content = pieces.map(({ block }) => block);
    if (isFailure && !marksFailure) {
      this.#report.coerced(this.#placeOf(item, 'is_error'), 'became part of the text of the result');
      content.unshift(textBlock('The tool failed.'));
    }
    if (content.length === 0) content.push(textBlock(EMPTY_RESULT));
    const block = { toolResult: { content, ...(marksFailure && { status: 'error' }) } };
    // A result is one block: a cache mark inside it moves to its end.
    const inner = pieces.findLast(({ mark }) => mark !== undefined)?.mark;
    const mark = this.#markOf(item, item.cache).mark ?? inner;
    return [{ block, result: item, ...(mark !== undefined && { mark }) }];
  }

  image(item: Item): [] {
    return this.#drop(item, MADE_IMAGE);
  }

  opaque(item: OpaqueItem): Piece[] {
    if (item.value.type === ADDITIONAL_TOOLS) {
      reportToolsFromStart(item, this.#context.report);
      return [];
    }
    return this.#drop(item, `an item ${foreignType(item.value)}`);
  }

  roleOfOpaque(): WireRole {
    return 'assistant';
  }

  reportForeignMembers(thing: { readonly ext?: Ext }, sent?: readonly string[]): void {
    reportForeignMembers(thing, 'items', this.#report, sent);
  }

  #part(part: Part, speaker: Speaker): Piece[] {
    if (speaker !== 'user' && part.type !== 'text' && part.type !== 'refusal') {
      return this.#drop(part, `${speaker} messages take only text`);
    }
    switch (part.type) {
      case 'text':
        return this.#text(part);
      case 'refusal':
        this.reportForeignMembers(part);
        return this.#said(part.refusal, part, undefined);
      case 'image':
        return this.#image(part);
      case 'file':
        return this.#file(part);
      case 'audio':
        return this.#audio(part);
      case 'video':
        return this.#media('video', videoMedia(sourceOf(part.url)), part, part.url);
      case 'opaque':
        return this.#opaquePart(part);
    }
  }

  #text(part: Extract<Part, { type: 'text' }>): Piece[] {
    reportTextMembers(part, this.#report, NO_FIELD);
    this.reportForeignMembers(part);
    return this.#said(part.text, part, part.cache);
  }

  /** Text that is not blank: the upstream refuses blank text. */
  #said(text: string, part: Part, cache: CacheMark | undefined): Piece[] {
    if (text.trim() !== '') return [{ block: textBlock(text), ...this.#markOf(part, cache) }];
    if (cache !== undefined) {
      this.#report.dropped(this.#placeOf(part, 'cache_control'), 'an empty text cannot carry it');
    }
    if (text !== '') this.#drop(part, 'blank text: the upstream refuses it');
    return [];
  }

  #image(part: Extract<Part, { type: 'image' }>): Piece[] {
    if (part.source.kind === 'text') return this.#drop(part, IMAGE_AS_TEXT);
    reportImageDetail(part, this.#report, NO_FIELD);
    return this.#media('image', imageMedia(part.source), part, addressOf(part.source));
  }

  /** Media that can be sent; otherwise the address, if there is one. */
  #media(
    kind: 'image' | 'video',
    media: Media | Obstacle,
    part: Extract<Part, { type: 'image' | 'video' | 'file' }>,
    address: string | undefined,
  ): Piece[] {
    if ('obstacle' in media) return this.#instead(media, kind, part, address);
    this.reportForeignMembers(part);
    const cache = part.type === 'video' ? undefined : part.cache;
    return [{ block: { [kind]: { ...media } }, ...this.#markOf(part, cache) }];
  }

  /** Text that names media that cannot be sent, and their address. */
  #instead({ obstacle }: Obstacle, kind: string, part: Part, address: string | undefined): Piece[] {
    if (address === undefined || address.length > MAX_ADDRESS_CHARACTERS) return this.#drop(part, obstacle);
    this.#report.coerced(this.#placeOf(part), `became text that names it: ${obstacle}`);
    const cache = 'cache' in part ? part.cache : undefined;
    return [{ block: textBlock(`[${kind} at ${address}]`), ...this.#markOf(part, cache) }];
  }

  #file(part: FilePart): Piece[] {
    const { source, filename } = part;
    if (source.kind === 'base64' && source.mediaType.startsWith('image/')) {
      if (filename !== undefined) {
        this.#report.dropped(this.#placeOf(part, this.#report.form.paths.filename), 'images have no name');
      }
      return this.#media('image', imageMedia(source), part, undefined);
    }
    const media = documentMedia(source, filename);
    if ('obstacle' in media) return this.#instead(media, 'document', part, addressOf(source));
    this.reportForeignMembers(part, SENT_WITH_DOCUMENTS);
    const document = { name: this.#documentName(part), ...media, ...documentSettings(part.ext?.messages) };
    return [{ block: { document }, ...this.#markOf(part, part.cache) }];
  }

  #documentName(part: FilePart): string {
    const { filename } = part;
    const name = this.#documentNames.take(filename);
    const isKept = filename === undefined || name === filename || name === withoutExtension(filename);
    if (!isKept) {
      const place = this.#placeOf(part, this.#report.form.paths.filename);
      this.#report.renamed(place, `the upstream knows it as ${name}`);
    }
    return name;
  }

  #audio(part: Extract<Part, { type: 'audio' }>): Piece[] {
    if (!AUDIO_FORMATS.has(part.format)) {
      return this.#drop(part, `the upstream takes no audio of format ${part.format.slice(0, 32)}`);
    }
    this.reportForeignMembers(part);
    return [{ block: { audio: { format: part.format, source: { bytes: part.data } } } }];
  }

  /** Parts that only the messages format and this dialect have. */
  #opaquePart(part: OpaquePart): Piece[] {
    const { value } = part;
    const reference = textOfToolReference(value);
    if (reference !== undefined) {
      this.#report.coerced(this.#placeOf(part), 'tool_reference sent as plain text');
      return this.#said(reference, part, parseCacheMark(value.cache_control));
    }
    const block =
      part.dialect !== 'messages'
        ? undefined
        : value.type === 'search_result'
          ? searchResult(value)
          : value.type === 'document'
            ? this.#documentOfBlocks(value)
            : undefined;
    if (block === undefined) {
      const text = textOfForeignPart(part, this.#report, NO_FIELD);
      return text === undefined
        ? this.#drop(part, `content ${foreignType(value)}`)
        : this.#said(text.text, part, text.cache);
    }
    this.#reportInnerLosses(part);
    return [{ block, ...this.#markOf(part, parseCacheMark(value.cache_control)) }];
  }

  /** Reports blocks inside such a part that are not text, and their cache marks. */
  #reportInnerLosses(part: OpaquePart): void {
    const { value } = part;
    const path = value.type === 'document' ? 'source.content' : 'content';
    for (const [index, inner] of innerBlocks(value).entries()) {
      const place = this.#placeOf(part, `${path}[${index}]`);
      if (inner.type !== 'text') this.#report.dropped(place, 'only text is taken here');
      else if (isJsonObject(inner.cache_control)) {
        this.#report.dropped(`${place}.cache_control`, 'no cache point can stand here');
      }
    }
  }

  #documentOfBlocks(value: JsonObject): JsonObject | undefined {
    const source = objectAt(value, 'source');
    const text = textAt(source, 'content') ?? textsIn(value).join('\n');
    if (text.trim() === '') return undefined;
    return {
      document: {
        name: this.#documentNames.take(textAt(value, 'title')),
        format: 'txt',
        source: { bytes: Buffer.from(text).toString('base64') },
        ...documentSettings(value),
      },
    };
  }

  #markOf(thing: object, cache: CacheMark | undefined): { readonly mark?: Mark } {
    return cache === undefined ? {} : { mark: { cache, field: this.#placeOf(thing, 'cache_control') } };
  }

  #drop(thing: object, detail: string): [] {
    this.#report.dropped(this.#placeOf(thing), detail);
    return [];
  }

  #placeOf(thing: object, member?: string): string {
    return this.#report.place(thing, 'items', member);
  }
}

/** Text of an empty tool result: the upstream accepts no empty one. */
const EMPTY_RESULT = '(empty)';

/** Longer addresses are data URLs. */
const MAX_ADDRESS_CHARACTERS = 2048;

/** Members of the messages format's documents that documents have here too. */
const SENT_WITH_DOCUMENTS = ['context', 'citations'];

function documentSettings(fields: JsonObject | undefined): JsonObject {
  const context = textAt(fields, 'context');
  const enabled = booleanAt(objectAt(fields, 'citations'), 'enabled');
  return { ...(context !== undefined && { context }), ...(enabled === true && { citations: { enabled } }) };
}

function searchResult(value: JsonObject): JsonObject | undefined {
  const content = textsIn(value).map(textBlock);
  if (content.length === 0) return undefined;
  const enabled = booleanAt(objectAt(value, 'citations'), 'enabled');
  return {
    searchResult: {
      source: textAt(value, 'source') ?? 'unknown',
      title: textAt(value, 'title') ?? 'untitled',
      content,
      ...(enabled !== undefined && { citations: { enabled } }),
    },
  };
}

function innerBlocks(value: JsonObject): JsonObject[] {
  return value.type === 'document'
    ? objectsAt(objectAt(value, 'source'), 'content')
    : objectsAt(value, 'content');
}

function textsIn(value: JsonObject): string[] {
  return innerBlocks(value).flatMap((block) => {
    const text = block.type === 'text' ? stringAt(block, 'text') : undefined;
    return text === undefined || text.trim() === '' ? [] : [text];
  });
}

function addressOf(source: Source): string | undefined {
  return source.kind === 'url' ? source.url : undefined;
}

/** A video is named by one string: an address or a data URL. */
function sourceOf(url: string): Source {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined || data === undefined
    ? { kind: 'url', url }
    : { kind: 'base64', mediaType, data };
}
