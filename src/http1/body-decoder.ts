import type { SectionProblem } from './fields.ts';

/** Receives the content of a body. */
export interface ContentTaker {
  /** Content lies in `bytes` from `from` to `to`. */
  onContent(bytes: Buffer, from: number, to: number): void;
}

/** Finds the content of one body in the bytes of a connection, cut anywhere. */
export interface BodyFrame {
  /** The whole body was taken. */
  readonly isOver: boolean;
  /**
   * Takes bytes from `from` to `to`, or to the end of the body if that is sooner, and passes their content on. Returns
   * the place after the last byte taken, or why they are no body.
   */
  take(bytes: Buffer, from: number, to: number, taker: ContentTaker): number | SectionProblem;
}

/** A body of a known length. */
export class LengthFrame implements BodyFrame {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  get isOver(): boolean {
    return this.#left === 0;
  }

  take(bytes: Buffer, from: number, to: number, taker: ContentTaker): number {
    const end = Math.min(to, from + this.#left);
    this.#left -= end - from;
    if (end > from) taker.onContent(bytes, from, end);
    return end;
  }
}

/** A body that ends with its connection; only responses have one. */
export class UntilCloseFrame implements BodyFrame {
  readonly isOver = false;

  take(bytes: Buffer, from: number, to: number, taker: ContentTaker): number {
    taker.onContent(bytes, from, to);
    return to;
  }
}
