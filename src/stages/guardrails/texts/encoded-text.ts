import { isTextMedia } from './protocol-marks.ts';

/** Base64 characters of a file that show whether it is text. */
const SNIFFED = 1400;

/** What no text has: control characters that are no blanks, and broken characters. */
const NO_TEXT = /(?!\s)[\p{Cc}\ufffd]/u;

type TextEncoding = 'utf8' | 'utf16le';

/** The text of a base64 file, and how it is written back. */
export interface EncodedText {
  readonly text: string;
  write(text: string): string;
}

/**
 * The text of a file in base64; undefined = it is none. Callers name all kinds of media types, or none, for files that
 * are text: then its beginning decides. PDF files are left to those who parse them.
 */
export function encodedText(data: string, mediaType: string): EncodedText | undefined {
  const beginning = Buffer.from(data.slice(0, SNIFFED), 'base64');
  const encoding = encodingOf(beginning);
  if (!isTextMedia(mediaType) && !isText(beginning, encoding)) return undefined;
  return {
    text: Buffer.from(data, 'base64').toString(encoding),
    write: (text) => Buffer.from(text, encoding).toString('base64'),
  };
}

/** Of UTF-16 the first characters, or a byte order mark, show it. */
function encodingOf(bytes: Buffer): TextEncoding {
  const isMarked = bytes[0] === 0xff && bytes[1] === 0xfe;
  const isWide = bytes.length >= 4 && bytes[0] !== 0 && bytes[1] === 0 && bytes[2] !== 0 && bytes[3] === 0;
  return isMarked || isWide ? 'utf16le' : 'utf8';
}

function isText(beginning: Buffer, encoding: TextEncoding): boolean {
  const text = beginning.toString(encoding);
  // The last character may be cut.
  return text !== '' && !text.startsWith('%PDF-') && !NO_TEXT.test(text.slice(0, -4) || text);
}
