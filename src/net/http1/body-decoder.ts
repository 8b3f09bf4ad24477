import type { SectionProblem } from './fields.ts';

export interface ContentSink {
  /** Content lies in `bytes` from `from` to `to`. */
  onContent(bytes: Buffer, from: number, to: number): void;
}

export interface BodyDecoder {
  readonly isDone: boolean;
  /**
   * Decodes bytes from `from` to `to`, or to the end of the body if that is sooner, and passes content to the sink.
   * Returns the index after the last byte decoded, or why the bytes are no body.
   */
  decode(bytes: Buffer, from: number, to: number, sink: ContentSink): number | SectionProblem;
}

export class LengthDecoder implements BodyDecoder {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  decode(bytes: Buffer, from: number, to: number, sink: ContentSink): number {
    const end = Math.min(to, from + this.#left);
    this.#left -= end - from;
    if (end > from) sink.onContent(bytes, from, end);
    return end;
  }
}

/** A body that ends with its connection; only responses have one. */
export class UntilCloseDecoder implements BodyDecoder {
  readonly isDone = false;

  decode(bytes: Buffer, from: number, to: number, sink: ContentSink): number {
    sink.onContent(bytes, from, to);
    return to;
  }
}
