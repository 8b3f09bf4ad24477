/** One event of a stream, however it is framed: its name if it has one, and its data as text. */
export interface Frame {
  readonly event?: string;
  readonly data: string;
}

/** Cuts a byte stream into frames. Pure and synchronous; chunks may be cut anywhere. */
export interface FrameReader {
  /** The frames that `chunk` completes. Throws FrameTooLarge or BrokenFrames. */
  push(chunk: Uint8Array): readonly Frame[];
  end(): readonly Frame[];
}

export class FrameTooLarge extends Error {
  constructor(readonly limitBytes: number) {
    super(`an event is larger than ${limitBytes} bytes`);
    this.name = 'FrameTooLarge';
  }
}

/** Thrown when the bytes are not framed as they should be: nothing after that can be trusted. */
export class BrokenFrames extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrokenFrames';
  }
}
