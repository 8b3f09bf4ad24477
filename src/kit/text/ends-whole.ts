/** Bytes below this one are characters by themselves. */
const FIRST_OF_MANY = 0x80;

/** Whether bytes of UTF-8, up to a place in them, end with a character of one byte: so with a whole one, whatever follows. */
export function endsWhole(bytes: Uint8Array, to = bytes.length): boolean {
  const last = bytes[to - 1];
  return last !== undefined && last < FIRST_OF_MANY;
}
