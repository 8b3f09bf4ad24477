import type { Source } from '../../ir/items.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { DOCUMENT_FORMATS, IMAGE_FORMATS, MAX_DOCUMENT_NAME_CHARACTERS, VIDEO_FORMATS } from './wire.ts';

/** Images, documents and videos: bytes, or an address in the provider's own store. No other addresses. */

export interface Media {
  readonly format: string;
  readonly source: JsonObject;
}

/** Why a source cannot be sent. */
export interface Obstacle {
  readonly obstacle: string;
}

export function imageMedia(source: Source): Media | Obstacle {
  return mediaOf(source, 'image', (mediaType) => lookUp(IMAGE_FORMATS, mediaType), IMAGE_FORMATS);
}

/** A document, or the obstacle to sending it. `filename` gives its type if the media type does not. */
export function documentMedia(source: Source, filename: string | undefined): Media | Obstacle {
  const named = lookUp(FORMATS_BY_EXTENSION, extensionOf(filename ?? ''));
  const formatOf = (mediaType: string) =>
    lookUp(DOCUMENT_FORMATS, mediaType) ?? named ?? (isText(mediaType) ? 'txt' : undefined);
  return mediaOf(source, 'document', formatOf, DOCUMENT_FORMATS);
}

export function videoMedia(source: Source): Media | Obstacle {
  return mediaOf(source, 'video', (mediaType) => lookUp(VIDEO_FORMATS, mediaType), VIDEO_FORMATS);
}

function mediaOf(
  source: Source,
  kind: string,
  formatOf: (mediaType: string) => string | undefined,
  formats: Readonly<Record<string, string>>,
): Media | Obstacle {
  switch (source.kind) {
    case 'base64':
      return withBytes(source.data, source.mediaType, kind, formatOf);
    case 'text':
      return withBytes(Buffer.from(source.text).toString('base64'), source.mediaType, kind, formatOf);
    case 'url':
      return (
        stored(source.url, formats) ?? {
          obstacle: `the upstream takes no addresses: send the ${kind} itself`,
        }
      );
    case 'file-id':
      return { obstacle: `the upstream knows no such file: send the ${kind} itself` };
  }
}

function withBytes(
  bytes: string,
  mediaType: string,
  kind: string,
  formatOf: (mediaType: string) => string | undefined,
): Media | Obstacle {
  if (bytes === '') return { obstacle: `the ${kind} is empty` };
  const bare = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  const format = formatOf(bare);
  return format === undefined
    ? { obstacle: `the upstream takes no ${kind} of type ${bare.slice(0, 64)}` }
    : { format, source: { bytes } };
}

/** Media in the provider's own store are named by their address, whose extension gives the type. */
function stored(url: string, formats: Readonly<Record<string, string>>): Media | undefined {
  if (!url.startsWith('s3://')) return undefined;
  const extension = extensionOf(url);
  const format = Object.values(formats).find((known) => known === (lookUp(SYNONYMS, extension) ?? extension));
  return format === undefined ? undefined : { format, source: { s3Location: { uri: url } } };
}

const SYNONYMS: Readonly<Record<string, string>> = {
  jpg: 'jpeg',
  htm: 'html',
  mpg: 'mpeg',
  '3gp': 'three_gp',
};

const FORMATS_BY_EXTENSION: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(DOCUMENT_FORMATS).map((format) => [format, format])),
  htm: 'html',
};

function extensionOf(name: string): string {
  return (/\.([a-z0-9]{1,5})$/i.exec(name)?.[1] ?? '').toLowerCase();
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}

/** Gives the documents of a conversation unique names. */
export class DocumentNames {
  readonly #taken = new Set<string>();
  readonly #numbers = new Map<string, number>();

  /** A unique name for a document, in the few characters that the upstream allows. */
  take(filename: string | undefined): string {
    const wanted = cleanName(filename);
    let name = wanted;
    let number = this.#numbers.get(wanted) ?? 2;
    for (; this.#taken.has(name); number++) name = `${wanted} (${number})`;
    this.#numbers.set(wanted, number);
    this.#taken.add(name);
    return name;
  }
}

/** Characters that are left for the number of a repeated name: ` (2)`. */
const NUMBER_CHARACTERS = 8;

/** A file name as the upstream accepts it: without its format and without two blanks in a row. */
export function cleanName(filename = ''): string {
  const stem =
    lookUp(FORMATS_BY_EXTENSION, extensionOf(filename)) === undefined ? filename : withoutExtension(filename);
  const name = stem
    .replace(/[^a-zA-Z0-9\s()[\]-]/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_DOCUMENT_NAME_CHARACTERS - NUMBER_CHARACTERS)
    .trim();
  return name === '' ? 'document' : name;
}

/** A file name without its extension: the format is a member of its own. */
export function withoutExtension(filename: string): string {
  return filename.replace(/\.[a-z0-9]{1,5}$/i, '');
}
