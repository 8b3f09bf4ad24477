import { textStructure } from './text-structure.ts';

/** Characters that are looked at, in one turn, to tell how a text is built. */
const SAMPLE = 65_536;

/** Characters that no text has: control characters other than bell to carriage return, and escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const NO_TEXT = /[\0-\x06\x0e-\x1a\x1c-\x1f]/;

/** Tells whether bytes are text in UTF-8, and by its structure which kind. */
export class TextType {
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
