/** Whom the content of a body is for. */
export interface ContentTaker {
  push(piece: Buffer): void;
}

/** Finds the content of a body in the bytes of a connection, as they come. */
export interface BodyFrame {
  /** All of the body was there. */
  readonly isOver: boolean;
  /**
   * Takes bytes from `start` on, up to the end of the body, and passes the content in them on. The place after the last
   * byte that was taken; undefined when they are no body.
   */
  take(bytes: Buffer, start: number, to: ContentTaker): number | undefined;
}

/** A body whose length was announced. */
export class LengthFrame implements BodyFrame {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  get isOver(): boolean {
    return this.#left === 0;
  }

  take(bytes: Buffer, start: number, to: ContentTaker): number {
    const end = Math.min(bytes.length, start + this.#left);
    this.#left -= end - start;
    if (end > start) to.push(bytes.subarray(start, end));
    return end;
  }
}
