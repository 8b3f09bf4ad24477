import { createHash } from 'node:crypto';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/** Chance that is the same every time: equal seeds roll equal numbers. */
export class Dice {
  #state: number;

  constructor(seed: string) {
    this.#state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  }

  /** A whole number, 0 <= n < sides. */
  roll(sides: number): number {
    // One step of a multiplicative mixer; good enough to pick words with.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.roll(values.length)] ?? values[0];
  }

  /** `length` characters of [0-9a-z]. */
  token(length: number): string {
    return Array.from({ length }, () => ALPHABET[this.roll(ALPHABET.length)]).join('');
  }
}
