import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes ids. Injected, so that tests can name what is made. */
export interface IdSource {
  /** `length` characters of [0-9A-Za-z] that nobody can guess. */
  token(length: number): string;
}

export const randomIds: IdSource = {
  token(length) {
    let text = '';
    while (text.length < length) {
      for (const byte of randomBytes(length * 2)) {
        // 248 = 4 x 62: bytes above would make the first characters of the alphabet likelier.
        if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
      }
    }
    return text;
  },
};

/** Epoch milliseconds, and a monotonic clock for durations. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds with fractions; only differences mean something. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
