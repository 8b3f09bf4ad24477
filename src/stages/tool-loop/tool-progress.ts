import type { Event } from '../../ir/events.ts';

/** Events that wait for the caller before tools that write more are held back. */
const MAX_WAITING_EVENTS = 200;

/** Steps and pieces of results that running tools show, in the order in which they come. */
export class ToolProgress {
  #waiting: Event[] = [];
  #wake: () => void = () => {};
  /** Wakes tools that wait until the caller has read. */
  #drained: (() => void)[] = [];

  show(event: Event): void {
    this.#waiting.push(event);
    this.#wake();
  }

  /** Resolves once the caller has read most of what is shown, or the signal is aborted. */
  async room(signal: AbortSignal): Promise<void> {
    while (this.#waiting.length >= MAX_WAITING_EVENTS && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const goOn = () => {
          signal.removeEventListener('abort', goOn);
          resolve();
        };
        this.#drained.push(goOn);
        signal.addEventListener('abort', goOn, { once: true });
      });
    }
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
        for (const wake of this.#drained.splice(0)) wake();
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
