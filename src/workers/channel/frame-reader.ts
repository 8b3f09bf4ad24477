/** Bytes of the length before each frame. */
export const FRAME_HEAD_BYTES = 4;

/** Finds frames in the bytes of a socket, which may be split anywhere. A frame is its length (32 bits) and its body. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Length of the frame that has begun; undefined while its own length is not complete. */
  #wanted: number | undefined;

  /** Adds bytes. Returns the bodies of all frames that are complete with them. */
  push(bytes: Buffer): Buffer[] {
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    const frames: Buffer[] = [];
    for (;;) {
      this.#wanted ??= this.#take(FRAME_HEAD_BYTES)?.readUInt32LE(0);
      if (this.#wanted === undefined) return frames;
      const frame = this.#take(this.#wanted);
      if (frame === undefined) return frames;
      this.#wanted = undefined;
      frames.push(frame);
    }
  }

  /** The next `length` bytes; undefined while fewer have come. */
  #take(length: number): Buffer | undefined {
    if (this.#bytes < length) return undefined;
    const first = this.#pieces[0];
    // Joined only when a frame is complete: joining piece by piece would copy a large frame many times.
    const all = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    const rest = all.subarray(length);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    return all.subarray(0, length);
  }
}
