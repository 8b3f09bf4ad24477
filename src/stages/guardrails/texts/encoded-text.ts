import { isTextMedia } from './protocol-marks.ts';

/** Base64 characters of a file that show whether it is text. */
const SNIFFED = 1400;

/** What no text has: control characters that are no blanks, and broken characters. */
const NO_TEXT = /(?!\s)[\p{Cc}\ufffd]/u;

type TextEncoding = 'utf8' | 'utf16le' | 'utf16be';

/** The text of a base64 file, and how it is written back. */
export interface EncodedText {
  readonly text: string;
  /** False if its media type alone says that it is text: the characters of its base64 may be meant. */
  readonly isReadable: boolean;
  write(text: string): string;
}

/**
 * The text of a file in base64; undefined = it is none. Callers name all kinds of media types, or none, for files that
 * are text: then its beginning decides. PDF files are left to those who parse them.
 */
export function encodedText(data: string, mediaType: string): EncodedText | undefined {
  const beginning = Buffer.from(data.slice(0, SNIFFED), 'base64');
  const encoding = encodingOf(beginning);
  const isReadable = isText(beginning, encoding);
  if (!isReadable && !isTextMedia(mediaType)) return undefined;
  return {
    isReadable,
    text: decoded(Buffer.from(data, 'base64'), encoding),
    write: (text) => encoded(text, encoding).toString('base64'),
  };
}

/** UTF-16 shows in the first characters, or in a byte order mark. */
function encodingOf(bytes: Buffer): TextEncoding {
  const [first, second, third, fourth] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf16le';
  if (first === 0xfe && second === 0xff) return 'utf16be';
  if (second === 0 && fourth === 0 && first !== 0 && third !== 0) return 'utf16le';
  return first === 0 && third === 0 && second !== 0 && fourth !== undefined && fourth !== 0
    ? 'utf16be'
    : 'utf8';
}

function decoded(bytes: Buffer, encoding: TextEncoding): string {
  return encoding === 'utf16be' ? swapped(bytes).toString('utf16le') : bytes.toString(encoding);
}

function encoded(text: string, encoding: TextEncoding): Buffer {
  return encoding === 'utf16be' ? swapped(Buffer.from(text, 'utf16le')) : Buffer.from(text, encoding);
}

/** The bytes of each pair the other way round; a single last byte is left out. */
function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).swap16();
}

function isText(beginning: Buffer, encoding: TextEncoding): boolean {
  const text = decoded(beginning, encoding);
  // The last character may be cut.
  return text !== '' && !text.startsWith('%PDF-') && !NO_TEXT.test(text.slice(0, -4) || text);
}
