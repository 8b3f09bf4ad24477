import type { Part, Source } from '../../ir/items.ts';
import { textAt } from '../../kit/json/members.ts';
import { IMAGE_AS_TEXT, reportImageDetail, reportTextMembers } from '../shared/blocks/part-losses.ts';
import { textOfForeignPart } from '../shared/blocks/text-of-foreign-part.ts';
import { parseDataUrl } from '../shared/media/data-url.ts';
import { NO_FIELD } from '../shared/report/field-fates.ts';
import type { Report } from '../shared/report/report.ts';
import {
  type AddressedKind,
  addressedPart,
  audioType,
  DOCUMENTED_AUDIO,
  inlinePart,
  isReadable,
  isTextLike,
  ownType,
} from './media.ts';
import type { RenderContext } from './render-context.ts';
import { NO_CACHE_MARKS, reportForeignMembers } from './render-losses.ts';
import { textPart, type WirePart } from './wire.ts';

type PartOf<T extends Part['type']> = Extract<Part, { type: T }>;

export class PartRenderer {
  readonly #report: Report;

  constructor({ report }: RenderContext) {
    this.#report = report;
  }

  parts(parts: readonly Part[]): WirePart[] {
    return parts.flatMap((part) => this.#part(part));
  }

  /** The parts of a system prompt, which is text only. */
  texts(parts: readonly Part[]): WirePart[] {
    return parts.flatMap((part) => {
      if (part.type === 'text' || part.type === 'refusal' || part.type === 'opaque') return this.#part(part);
      return this.#drop(part, 'system prompts hold only text');
    });
  }

  /** Renders the source of an image or file. `owner`: the part or item, for reports. */
  source(owner: object, source: Source, kind: AddressedKind): WirePart[] {
    switch (source.kind) {
      case 'base64':
        return this.#bytes(owner, source);
      case 'url':
        return this.#address(owner, source.url, kind);
      case 'text':
        return source.text === '' ? [] : [textPart(source.text)];
      case 'file-id':
        return this.#drop(owner, 'files of another provider: the upstream does not have them');
    }
  }

  #part(part: Part): WirePart[] {
    switch (part.type) {
      case 'text':
        return this.#text(part);
      case 'refusal':
        reportForeignMembers(part, 'items', this.#report);
        return part.refusal === '' ? [] : [textPart(part.refusal)];
      case 'image':
        return this.#image(part);
      case 'file':
        return this.#file(part);
      case 'audio':
        return [this.#audio(part)];
      case 'video':
        reportForeignMembers(part, 'items', this.#report);
        return this.#address(part, part.url, 'video');
      case 'opaque':
        return this.#opaque(part);
    }
  }

  /** Upstreams refuse empty text. */
  #text(part: PartOf<'text'>): WirePart[] {
    reportTextMembers(part, this.#report, NO_FIELD);
    reportForeignMembers(part, 'items', this.#report);
    return part.text === '' ? [] : [textPart(part.text)];
  }

  #audio(part: PartOf<'audio'>): WirePart {
    reportForeignMembers(part, 'items', this.#report);
    const type = audioType(part.format);
    if (!DOCUMENTED_AUDIO.has(part.format)) {
      this.#report.coerced(this.#place(part, 'input_audio.format'), `sent as the media type ${type}`);
    }
    return inlinePart(type, part.data);
  }

  #image(part: PartOf<'image'>): WirePart[] {
    reportForeignMembers(part, 'items', this.#report);
    if (part.source.kind === 'text') return this.#drop(part, IMAGE_AS_TEXT);
    reportImageDetail(part, this.#report, NO_FIELD);
    return this.source(part, part.source, 'image');
  }

  #file(part: PartOf<'file'>): WirePart[] {
    const { source, filename } = part;
    reportForeignMembers(part, 'items', this.#report);
    const text = textOfFile(source);
    if (text !== undefined) {
      this.#report.coerced(this.#place(part), 'a text document is sent as plain text');
      const lines = [filename ?? '', text].filter((line) => line !== '');
      return lines.length === 0 ? [] : [textPart(lines.join('\n'))];
    }
    if (filename !== undefined) {
      this.#report.dropped(this.#place(part, this.#report.form.paths.filename), 'files have no names there');
    }
    return this.source(part, source, 'file');
  }

  #bytes(owner: object, { mediaType, data }: Extract<Source, { kind: 'base64' }>): WirePart[] {
    const type = ownType(mediaType);
    return isReadable(type) ? [inlinePart(type, data)] : this.#unreadable(owner, type);
  }

  #address(owner: object, url: string, kind: AddressedKind): WirePart[] {
    const bytes = parseDataUrl(url);
    if (bytes !== undefined) return this.#bytes(owner, bytes);
    const addressed = addressedPart(url, kind);
    if (addressed === undefined) return this.#drop(owner, 'the upstream fetches only https and gs addresses');
    if (!isReadable(addressed.mimeType)) return this.#unreadable(owner, addressed.mimeType);
    if (addressed.isGuessed) {
      this.#report.coerced(this.#place(owner), `the address does not tell its type: sent as ${kind}`);
    }
    return [addressed.part];
  }

  #unreadable(owner: object, mediaType: string): [] {
    return this.#drop(owner, `the upstream reads no files of type ${mediaType.slice(0, 64)}`);
  }

  #opaque(part: PartOf<'opaque'>): WirePart[] {
    if (part.dialect === 'gemini') return [part.value as WirePart];
    const text = textOfForeignPart(part, this.#report, NO_FIELD);
    if (text === undefined) {
      return this.#drop(part, `the upstream does not know ${textAt(part.value, 'type') ?? 'such content'}`);
    }
    if (text.cache !== undefined) {
      this.#report.dropped(this.#place(part, 'cache_control'), NO_CACHE_MARKS);
    }
    return [textPart(text.text)];
  }

  #drop(thing: object, detail: string): [] {
    this.#report.dropped(this.#place(thing), detail);
    return [];
  }

  #place(thing: object, member?: string): string {
    return this.#report.place(thing, 'items', member);
  }
}

/** The text of a file that the upstream accepts only as text; undefined for others. */
function textOfFile(source: Source): string | undefined {
  if (source.kind === 'text') return source.text;
  const isText = source.kind === 'base64' && isTextLike(source.mediaType);
  return isText ? Buffer.from(source.data, 'base64').toString() : undefined;
}
