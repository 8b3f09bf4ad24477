import { lookUp } from '../../kit/collections/lookup.ts';
import type { WirePart } from './wire.ts';

/** Images, files, audio and video in this dialect. */

/** Kinds of content that an address names, with the media type to assume if the address has none. */
const DEFAULT_TYPES = { image: 'image/jpeg', file: 'application/pdf', video: 'video/mp4' } as const;

export type AddressedKind = keyof typeof DEFAULT_TYPES;

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

/** Audio formats that every format of callers documents; of others the report says what they became. */
export const DOCUMENTED_AUDIO: ReadonlySet<string> = new Set(['wav', 'mp3']);

export function audioType(format: string): string {
  return lookUp(AUDIO_TYPES, format.toLowerCase()) ?? `audio/${format}`;
}

/** Prefixes of media types that the upstream reads. */
const READABLE: readonly string[] = ['audio/', 'video/', 'text/', 'application/pdf'];

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

/** The upstream's names for media types that it knows by another name. */
const SYNONYMS: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg' };

export function ownType(mediaType: string): string {
  const plain = mediaType.toLowerCase();
  return lookUp(SYNONYMS, plain) ?? plain;
}

/** Text types outside `text/`. */
const TEXT_LIKE = /^application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|javascript|x-javascript|x-sh|x-python)\b/;

export function isTextLike(mediaType: string): boolean {
  return TEXT_LIKE.test(mediaType);
}

export function inlinePart(mimeType: string, data: string): WirePart {
  return { inlineData: { mimeType, data } };
}

/** A part with an address; `isGuessed`: its media type is assumed. */
export interface Addressed {
  readonly part: WirePart;
  readonly mimeType: string;
  readonly isGuessed: boolean;
}

/** Addresses that the upstream fetches from. */
const FETCHABLE = /^(?:https|gs):\/\//i;

/** A part for an address; undefined if the upstream does not fetch from there. */
export function addressedPart(url: string, kind: AddressedKind): Addressed | undefined {
  if (!FETCHABLE.test(url)) return undefined;
  const path = url.split(/[?#]/, 1)[0] ?? '';
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  const known = lookUp(EXTENSIONS, extension);
  const mimeType = known ?? DEFAULT_TYPES[kind];
  return { part: { fileData: { mimeType, fileUri: url } }, mimeType, isGuessed: known === undefined };
}
