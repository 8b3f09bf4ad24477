/** Readers that go on in one turn of the event loop. */
const READERS_PER_TURN = 8;

/**
 * Shares the event loop between all answers that are being read. Promises that are already settled never let the loop
 * turn, and many fast upstreams would each take their share in every turn: a new connection or a health check would
 * wait for all of them. Here they queue, and only a few go on per turn, in the order they came.
 */
export class Turns {
  #waiting: (() => void)[] = [];

  /** Resolves when the reader may go on, at the earliest in the next turn of the loop. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(() => this.#admit());
    });
  }

  #admit(): void {
    const admitted = this.#waiting.slice(0, READERS_PER_TURN);
    this.#waiting = this.#waiting.slice(READERS_PER_TURN);
    if (this.#waiting.length > 0) setImmediate(() => this.#admit());
    for (const go of admitted) go();
  }
}
