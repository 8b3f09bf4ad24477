import { Cohort } from './cohort.ts';

/**
 * Work of which each piece could go on in every turn of the event loop: `most` pieces go on in a turn, in the order in
 * which they came. Promises that are already settled never let the loop turn: without a queue, a new connection or a
 * health check would wait for all of them.
 */
export class TurnQueue {
  readonly #waiting: Cohort<() => void>;

  constructor(most: number) {
    this.#waiting = new Cohort((goOn) => goOn(), { most, newest: 0 });
  }

  /** Resolves when the caller may go on, at the earliest in the next turn of the loop. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
