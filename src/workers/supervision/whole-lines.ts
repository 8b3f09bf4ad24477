const NEWLINE = 0x0a;

/** Passes on whole lines, so that the lines of several processes do not mix. */
export class WholeLines {
  readonly #pass: (lines: string) => void;
  #rest: Buffer[] = [];

  constructor(pass: (lines: string) => void) {
    this.#pass = pass;
  }

  push(bytes: Buffer): void {
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end > 0) this.#passOn(bytes.subarray(0, end));
    if (end < bytes.length) this.#rest.push(bytes.subarray(end));
  }

  /** Passes on a last line without its end. */
  end(): void {
    if (this.#rest.length > 0) this.#passOn(Buffer.from('\n'));
  }

  #passOn(bytes: Buffer): void {
    const lines = Buffer.concat([...this.#rest, bytes]).toString();
    this.#rest = [];
    this.#pass(lines);
  }
}
