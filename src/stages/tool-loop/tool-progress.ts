import type { Event } from '../../ir/events.ts';

/** Steps and pieces of results that running tools show, in the order in which they come. */
export class ToolProgress {
  #waiting: Event[] = [];
  #wake: () => void = () => {};

  show(event: Event): void {
    this.#waiting.push(event);
    this.#wake();
  }

  /** Yields what comes until a promise is settled, however it ends. */
  async *until(pending: Promise<unknown>): AsyncGenerator<Event[], void, undefined> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
      this.#wake();
    };
    pending.then(settle, settle);
    for (;;) {
      const events = this.#waiting;
      if (events.length > 0) {
        this.#waiting = [];
        yield events;
      } else if (isSettled) return;
      else await this.#next();
    }
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
