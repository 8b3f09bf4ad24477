import type { Source } from '../ir/items.ts';

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

export function isText({ mediaType, data }: Extract<Source, { kind: 'base64' }>): boolean {
  if (!TEXT_TYPES.test(mediaType)) return false;
  const head = headOf(data);
  return !isBinary(head) && (!head.includes('\0') || WIDE_CHARACTERS.test(head));
}

function isBinary(head: string): boolean {
  return head.includes('%PDF-') || BINARY_BEGINNINGS.some((beginning) => head.startsWith(beginning));
}

/** Test of an unmodelled member: its name, and its value if that is a string. */
type Trait = (name: string, text: string | undefined) => boolean;

/** Holds or references a file, which the upstream reads again with every turn. */
export const isFile: Trait = (name, text) =>
  /^file_(?:id|url|uri|data)$/.test(name) ||
  (name === 'media_type' && text === 'application/pdf') ||
  (text !== undefined && isBinary(headOf(text)));

/** References anything that only the upstream can read. */
export const isUpstreamContent: Trait = (name, text) =>
  /^(?:\w+_)?ur[li]$|^audio$|^(?:document_)?id$/.test(name) ||
  (text !== undefined && /^(?:https?:|data:|gs:|s3:)/i.test(text)) ||
  isFile(name, text);

export const isImage: Trait = (name) => name === 'image_url';

/** Search depth: deeper than any format nests such members. */
const MAX_DEPTH = 8;

/** True if any member matches, in lists too. */
export function has(value: object, trait: Trait, depth = MAX_DEPTH): boolean {
  for (const [name, member] of Object.entries(value)) {
    if (member === null || member === undefined || member === '') continue;
    if (trait(Array.isArray(value) ? '' : name, typeof member === 'string' ? member : undefined)) return true;
    if (depth > 1 && typeof member === 'object' && has(member, trait, depth - 1)) return true;
  }
  return false;
}
