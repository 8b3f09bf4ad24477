/** Bytes in pieces of random length: the same generator cuts the same way. */
export function cutBytes(bytes: Buffer, random: () => number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  const longest = 1 + Math.floor(random() * 300);
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() * longest);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

export function byteByByte(bytes: Buffer): Uint8Array[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}
