import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes ids. Injected, so that tests can predict them. */
export interface IdSource {
  /** `length` characters of [0-9A-Za-z], not guessable. */
  token(length: number): string;
}

/** Random bytes that are fetched at once: a call costs more than the bytes. */
const POOL_BYTES = 4096;

/** 4 x 62: higher bytes are skipped, because they would make the first characters of the alphabet likelier. */
const FAIR_BYTES = 248;

class RandomIds implements IdSource {
  readonly #pool = Buffer.allocUnsafeSlow(POOL_BYTES);
  #next = POOL_BYTES;

  token(length: number): string {
    let text = '';
    while (text.length < length) {
      const byte = this.#byte();
      if (byte < FAIR_BYTES) text += ALPHABET[byte % ALPHABET.length];
    }
    return text;
  }

  #byte(): number {
    if (this.#next === POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#next = 0;
    }
    const byte = this.#pool[this.#next] as number;
    // Tokens may be secrets: their bytes must not stay in memory.
    this.#pool[this.#next++] = 0;
    return byte;
  }
}

export const randomIds: IdSource = new RandomIds();

/** The id of a request, which is also that of its generation. */
export function requestIdOf(kind: 'gen' | 'req', acceptedAtMs: number, token: string): string {
  return `${kind}-${Math.floor(acceptedAtMs / 1000)}-${token}`;
}
