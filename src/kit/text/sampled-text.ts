/** Characters of a slice: enough for its edges not to matter. */
const SLICE_CHARACTERS = 512;

/** Slices that are kept at most; at least half as many of a text that is longer than all of them. */
const MOST_SLICES = 128;

/**
 * Slices at even distances of a text that grows: what they are like the text is like. When there are too many of them every
 * other one is let go, and those that come are twice as far apart.
 */
export class SampledText {
  #slices: string[] = [];
  /** From the beginning of one slice to that of the next. */
  #distance = SLICE_CHARACTERS;
  /** What there is of the slice that is not yet full. */
  #pieces: string[] = [];
  #missing = SLICE_CHARACTERS;
  #length = 0;

  /** Characters of the whole text. */
  get length(): number {
    return this.#length;
  }

  /** The slices that there are, in order. */
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
    if (this.#slices.length < MOST_SLICES) return;
    this.#slices = this.#slices.filter((_, index) => index % 2 === 0);
    this.#distance *= 2;
  }
}

/** A piece that was cut out of a longer text keeps all of that in memory. */
function ownText(pieces: readonly string[]): string {
  return Buffer.from(pieces.join('')).toString();
}
