/** The places in `reasoning_details` that a stream has told its caller of: each part of each item has its own. */
export class ToldDetails {
  /** By `item/kind/part`. */
  readonly #indexes = new Map<string, number>();
  /** Of each item the one that was asked for last. */
  readonly #last = new Map<number, number>();
  /** The part of the thoughts that was written last. */
  #lastThought: string | undefined;

  /** The place of a part. */
  indexOf(item: number, part: number, kind: string): number {
    const key = keyOf(item, part, kind);
    const index = this.#indexes.get(key) ?? this.#indexes.size;
    this.#indexes.set(key, index);
    this.#last.set(item, index);
    return index;
  }

  /** The place of the part of an item that was written last, or of its first thought. */
  lastIndexOf(item: number): number {
    return this.#last.get(item) ?? this.indexOf(item, 0, 'thought');
  }

  /** A thought is written. True when it is not part of the one before it. */
  turnTo(item: number, part: number, kind: string): boolean {
    const key = keyOf(item, part, kind);
    const isFurtherPart = this.#lastThought !== undefined && this.#lastThought !== key;
    this.#lastThought = key;
    return isFurtherPart;
  }
}

function keyOf(item: number, part: number, kind: string): string {
  return `${item}/${kind}/${part}`;
}
