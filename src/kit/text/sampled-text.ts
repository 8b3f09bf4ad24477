/** Characters of a slice: enough that cut words at its edges do not matter. */
const SLICE_CHARACTERS = 512;

/** Slices that are kept at most; of a longer text at least half as many. */
const MAX_SLICES = 128;

/**
 * A sample of a growing text: slices at even distances. When there are too many, every other one is dropped, and the
 * next ones are taken at twice the distance.
 */
export class SampledText {
  #slices: string[] = [];
  /** From the beginning of one slice to that of the next. */
  #distance = SLICE_CHARACTERS;
  /** Text of the incomplete slice. */
  #pieces: string[] = [];
  #missing = SLICE_CHARACTERS;
  #length = 0;

  /** Characters of the whole text. */
  get length(): number {
    return this.#length;
  }

  /** All slices in order, the incomplete one included. */
  get slices(): readonly string[] {
    return this.#pieces.length === 0 ? this.#slices : [...this.#slices, this.#pieces.join('')];
  }

  add(text: string): void {
    let at = 0;
    while (at < text.length) {
      const skipped = Math.min(this.#untilSlice(), text.length - at);
      const taken = Math.min(this.#missing, text.length - at - skipped);
      if (taken > 0) this.#take(text.slice(at + skipped, at + skipped + taken));
      at += skipped + taken;
      this.#length += skipped + taken;
    }
  }

  /** Characters before the next that belongs to a slice. */
  #untilSlice(): number {
    const within = this.#length % this.#distance;
    return within < SLICE_CHARACTERS ? 0 : this.#distance - within;
  }

  #take(piece: string): void {
    this.#pieces.push(piece);
    this.#missing -= piece.length;
    if (this.#missing > 0) return;
    this.#slices.push(ownText(this.#pieces));
    this.#pieces = [];
    this.#missing = SLICE_CHARACTERS;
    if (this.#slices.length < MAX_SLICES) return;
    this.#slices = this.#slices.filter((_, index) => index % 2 === 0);
    this.#distance *= 2;
  }
}

/** Copies the text: a slice would keep the whole text it was cut from in memory. */
function ownText(pieces: readonly string[]): string {
  return Buffer.from(pieces.join('')).toString();
}
