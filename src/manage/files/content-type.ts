import { textStructure } from './text-structure.ts';

/** What a file of one type begins with: these bytes at these places. */
interface Signature {
  readonly type: string;
  readonly at: Readonly<Record<number, string>>;
}

/** Types that are told by their first bytes, which are written one character a byte. */
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
  // Frames of layer III without a tag before them: MPEG 1, 2 and 2.5, with and without a checksum.
  ...['\xfb', '\xfa', '\xf3', '\xf2', '\xe3', '\xe2'].map((second) => ({
    type: 'audio/mpeg',
    at: { 0: `\xff${second}` },
  })),
];

/** As many bytes as any signature looks at. */
const HEAD_BYTES = 12;

/** What is accepted, for people. */
export const ACCEPTED_TYPES =
  'PDF, PNG, JPEG, GIF, WebP, DOCX, XLSX, PPTX, MP3, WAV, FLAC, OGG, or text in UTF-8';

/** Tells the type of a file from its content, piece by piece as it comes in. Names and declared types do not count. */
export class ContentType {
  #head = Buffer.alloc(0);
  readonly #archive = new ArchiveType();
  readonly #text = new TextType();

  push(piece: Uint8Array): void {
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, piece.subarray(0, HEAD_BYTES - this.#head.length)]);
    }
    this.#archive.push(piece);
    this.#text.push(piece);
  }

  /** The type of all that came; undefined when it is none that is accepted. */
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

/** Office documents are archives that hold an entry of this name, or one that begins so. */
const ENTRIES: Readonly<Record<string, string>> = {
  'word/document': `${OFFICE}.wordprocessingml.document`,
  'xl/workbook.xml': `${OFFICE}.spreadsheetml.sheet`,
  'ppt/presentation.xml': `${OFFICE}.presentationml.presentation`,
};

const ENTRY_HEAD = Buffer.from('PK\x03\x04', 'latin1');

/** Bytes of the head of an entry before its name. */
const ENTRY_HEAD_BYTES = 30;

const LONGEST_ENTRY_NAME = Math.max(...Object.keys(ENTRIES).map((name) => name.length));

/** Tells which kind of office document an archive is, by the heads of its entries. */
class ArchiveType {
  #isArchive: boolean | undefined;
  #type: string | undefined;
  /** The end of what came, in which a head may have begun. */
  #rest = Buffer.alloc(0);

  push(piece: Uint8Array): void {
    if (this.#isArchive === false || this.#type !== undefined) return;
    const bytes = Buffer.concat([this.#rest, piece]);
    if (bytes.length >= ENTRY_HEAD.length)
      this.#isArchive ??= bytes.subarray(0, ENTRY_HEAD.length).equals(ENTRY_HEAD);
    this.#type = officeTypeIn(bytes);
    this.#rest = bytes.subarray(Math.max(0, bytes.length - ENTRY_HEAD_BYTES - LONGEST_ENTRY_NAME));
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

/** Characters that are looked at, in one turn, to tell how a text is built. */
const SAMPLE = 65_536;

/** Characters that no text has: control characters other than bell to carriage return, and escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const NO_TEXT = /[\0-\x06\x0e-\x1a\x1c-\x1f]/;

/** Tells whether bytes are text in UTF-8, and by its structure which kind. */
class TextType {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #isText = true;
  #sample = '';
  #isWhole = true;
  /** The last character that is not white space. */
  #last = '';

  push(piece: Uint8Array): void {
    this.#take(() => this.#decoder.decode(piece, { stream: true }));
  }

  /** Undefined when it is no text. */
  end(): string | undefined {
    this.#take(() => this.#decoder.decode());
    if (!this.#isText) return undefined;
    return textStructure({ text: this.#sample, isWhole: this.#isWhole, last: this.#last });
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
    this.#isText = !NO_TEXT.test(text);
    this.#last = text.trimEnd().at(-1) ?? this.#last;
    const room = SAMPLE - this.#sample.length;
    this.#isWhole &&= text.length <= room;
    this.#sample += text.slice(0, room);
  }
}
