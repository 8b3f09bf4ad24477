import type { Source } from '../../ir/items.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import type { WirePart } from './wire.ts';

/** Images, files, sound and film as this dialect takes them. */

/** Kinds of content that are named by an address, with the media type where the address does not tell. */
const DEFAULT_TYPES = { image: 'image/jpeg', file: 'application/pdf', video: 'video/mp4' } as const;

export type AddressedKind = keyof typeof DEFAULT_TYPES;

/** Media types by the end of a file's name. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  csv: 'text/csv',
  xml: 'text/xml',
  mp4: 'video/mp4',
  mpeg: 'video/mpeg',
  mov: 'video/quicktime',
  webm: 'video/webm',
  avi: 'video/x-msvideo',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
};

/** Media types of sound by the words that callers have for them. */
const AUDIO_TYPES: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  aac: 'audio/aac',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  aiff: 'audio/aiff',
  pcm16: 'audio/pcm',
};

/** The media type of sound. */
export function audioType(format: string): string {
  return lookUp(AUDIO_TYPES, format.toLowerCase()) ?? `audio/${format}`;
}

/** Media types that the upstream reads as they are, by their beginning. */
const READABLE: readonly string[] = ['audio/', 'video/', 'text/', 'application/pdf'];

/** Types of images that the upstream reads. */
const IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/heic',
  'image/heif',
]);

export function isReadable(mediaType: string): boolean {
  return IMAGE_TYPES.has(mediaType) || READABLE.some((beginning) => mediaType.startsWith(beginning));
}

/** Names that the upstream does not know for types that it does. */
const SYNONYMS: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg' };

/** A media type as the upstream calls it. */
export function ownType(mediaType: string): string {
  const plain = mediaType.toLowerCase();
  return lookUp(SYNONYMS, plain) ?? plain;
}

/** Media types that are text although they are not called so. */
const TEXT_LIKE = /^application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|javascript|x-javascript|x-sh|x-python)\b/;

export function isTextLike(mediaType: string): boolean {
  return TEXT_LIKE.test(mediaType);
}

/** Bytes in the request itself. */
export function inlinePart(mimeType: string, data: string): WirePart {
  return { inlineData: { mimeType, data } };
}

/** Something that the upstream fetches; `isGuessed` when its media type is only the usual one. */
export interface Addressed {
  readonly part: WirePart;
  readonly mimeType: string;
  readonly isGuessed: boolean;
}

/** Addresses that the upstream fetches from. */
const FETCHABLE = /^(?:https|gs):\/\//i;

/** What an address means; undefined when the upstream does not fetch from there. */
export function addressedPart(url: string, kind: AddressedKind): Addressed | undefined {
  if (!FETCHABLE.test(url)) return undefined;
  const path = url.split(/[?#]/, 1)[0] ?? '';
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  const known = lookUp(EXTENSIONS, extension);
  const mimeType = known ?? DEFAULT_TYPES[kind];
  return { part: { fileData: { mimeType, fileUri: url } }, mimeType, isGuessed: known === undefined };
}

const DATA_URL = /^data:([^;,]+);base64,/i;

/** The bytes in a data URL; undefined when it is none. */
export function bytesIn(url: string): Extract<Source, { kind: 'base64' }> | undefined {
  const head = DATA_URL.exec(url.slice(0, 256));
  if (head === null) return undefined;
  return { kind: 'base64', mediaType: head[1] ?? '', data: url.slice(head[0].length) };
}
