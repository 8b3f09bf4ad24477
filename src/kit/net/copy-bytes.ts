/** Copies bytes out of the read buffer that all sockets share. */
export function copyBytes(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}
