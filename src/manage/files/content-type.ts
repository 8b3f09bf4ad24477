import { ArchiveType } from './archive-type.ts';
import { TextType } from './text-type.ts';

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
