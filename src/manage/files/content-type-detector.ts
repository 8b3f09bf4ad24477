import { textMediaType } from './text-media-type.ts';

/** Magic bytes of a type, by offset. */
interface Signature {
  readonly type: string;
  readonly at: Readonly<Record<number, string>>;
}

/** Types recognized by magic bytes, written as latin1. */
const SIGNATURES: readonly Signature[] = [
  { type: 'application/pdf', at: { 0: '%PDF-' } },
  { type: 'image/png', at: { 0: '\x89PNG\r\n\x1a\n' } },
  { type: 'image/jpeg', at: { 0: '\xff\xd8\xff' } },
  { type: 'image/gif', at: { 0: 'GIF87a' } },
  { type: 'image/gif', at: { 0: 'GIF89a' } },
  { type: 'image/webp', at: { 0: 'RIFF', 8: 'WEBP' } },
  { type: 'audio/wav', at: { 0: 'RIFF', 8: 'WAVE' } },
  { type: 'audio/flac', at: { 0: 'fLaC' } },
  { type: 'audio/ogg', at: { 0: 'OggS' } },
  { type: 'audio/mpeg', at: { 0: 'ID3' } },
  // MP3 frames without an ID3 tag: MPEG 1, 2 and 2.5, with and without a checksum.
  ...['\xfb', '\xfa', '\xf3', '\xf2', '\xe3', '\xe2'].map((second) => ({
    type: 'audio/mpeg',
    at: { 0: `\xff${second}` },
  })),
];

/** Length of the longest signature, with its offset. */
const HEAD_BYTES = 12;

export const ACCEPTED_TYPES =
  'PDF, PNG, JPEG, GIF, WebP, DOCX, XLSX, PPTX, MP3, WAV, FLAC, OGG, or text in UTF-8';

/** Detects the type of a file from its content as it streams in; file name and declared type are ignored. */
export class ContentTypeDetector {
  #head = Buffer.alloc(0);
  readonly #archive = new ArchiveTypeDetector();
  readonly #text = new TextTypeDetector();

  push(piece: Uint8Array): void {
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, piece.subarray(0, HEAD_BYTES - this.#head.length)]);
    }
    this.#archive.push(piece);
    this.#text.push(piece);
  }

  /** The detected type; undefined if it is not accepted. */
  end(): string | undefined {
    return this.#signed() ?? this.#archive.end() ?? this.#text.end();
  }

  #signed(): string | undefined {
    const head = this.#head.toString('latin1');
    const matches = ({ at }: Signature) =>
      Object.entries(at).every(([place, bytes]) => head.startsWith(bytes, Number(place)));
    return SIGNATURES.find(matches)?.type;
  }
}

const OFFICE = 'application/vnd.openxmlformats-officedocument';

/** Office documents are ZIP archives with an entry whose name begins like this. */
const ENTRIES: Readonly<Record<string, string>> = {
  'word/document': `${OFFICE}.wordprocessingml.document`,
  'xl/workbook.xml': `${OFFICE}.spreadsheetml.sheet`,
  'ppt/presentation.xml': `${OFFICE}.presentationml.presentation`,
};

const ENTRY_HEAD = Buffer.from('PK\x03\x04', 'latin1');

/** Length of a ZIP entry's header before its name. */
const ENTRY_HEAD_BYTES = 30;

const MAX_ENTRY_NAME_BYTES = Math.max(...Object.keys(ENTRIES).map((name) => name.length));

/** Detects the kind of office document from the entry headers of a ZIP archive. */
class ArchiveTypeDetector {
  #isArchive: boolean | undefined;
  #type: string | undefined;
  /** Tail of the previous piece, in which an entry header may begin. */
  #rest = Buffer.alloc(0);

  push(piece: Uint8Array): void {
    if (this.#isArchive === false || this.#type !== undefined) return;
    const bytes = Buffer.concat([this.#rest, piece]);
    if (bytes.length >= ENTRY_HEAD.length)
      this.#isArchive ??= bytes.subarray(0, ENTRY_HEAD.length).equals(ENTRY_HEAD);
    this.#type = officeTypeIn(bytes);
    this.#rest = bytes.subarray(Math.max(0, bytes.length - ENTRY_HEAD_BYTES - MAX_ENTRY_NAME_BYTES));
  }

  end(): string | undefined {
    return this.#isArchive === true ? this.#type : undefined;
  }
}

function officeTypeIn(bytes: Buffer): string | undefined {
  for (const [name, type] of Object.entries(ENTRIES)) {
    for (let at = bytes.indexOf(name); at !== -1; at = bytes.indexOf(name, at + 1)) {
      const head = at - ENTRY_HEAD_BYTES;
      if (head >= 0 && bytes.subarray(head, head + ENTRY_HEAD.length).equals(ENTRY_HEAD)) return type;
    }
  }
  return undefined;
}

/** Characters that are examined for the structure of a text. */
const SAMPLE_CHARACTERS = 65_536;

/** Control characters that do not occur in text: all but BEL to CR, and ESC. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters.
const BINARY_CHARACTER = /[\0-\x06\x0e-\x1a\x1c-\x1f]/;

/** Detects UTF-8 text, and its media type by its structure. */
class TextTypeDetector {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #isText = true;
  #sample = '';
  #isWhole = true;
  /** The last character that is not white space. */
  #last = '';

  push(piece: Uint8Array): void {
    this.#take(() => this.#decoder.decode(piece, { stream: true }));
  }

  /** Undefined if it is not text. */
  end(): string | undefined {
    this.#take(() => this.#decoder.decode());
    if (!this.#isText) return undefined;
    return textMediaType({ text: this.#sample, isWhole: this.#isWhole, last: this.#last });
  }

  #take(decode: () => string): void {
    if (!this.#isText) return;
    let text: string;
    try {
      text = decode();
    } catch {
      this.#isText = false;
      return;
    }
    this.#isText = !BINARY_CHARACTER.test(text);
    this.#last = text.trimEnd().at(-1) ?? this.#last;
    const room = SAMPLE_CHARACTERS - this.#sample.length;
    this.#isWhole &&= text.length <= room;
    this.#sample += text.slice(0, room);
  }
}
