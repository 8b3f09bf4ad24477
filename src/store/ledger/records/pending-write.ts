/** `first`: the first attempt is under way. `retried`: it failed, and the write is retried. */
type State = 'first' | 'retried' | 'written' | 'given-up';

interface Waiter {
  /** Waits for retries too. */
  readonly isPatient: boolean;
  readonly timer: NodeJS.Timeout | undefined;
  resolve(isWritten: boolean): void;
  reject(error: unknown): void;
}

export class PendingWrite {
  #state: State = 'first';
  #error: unknown;
  /** Undefined without waiters. Usually there is one, and the first write succeeds. */
  #waiting: Waiter[] | undefined;

  /** Whether the first write succeeds in time. */
  firstTrySucceedsWithin(milliseconds: number): Promise<boolean> {
    if (this.#state !== 'first') return Promise.resolve(this.#state === 'written');
    return this.#wait(false, milliseconds);
  }

  /** Whether the record is written in time, retries included. Rejects when it never will be. */
  isWrittenWithin(milliseconds: number): Promise<boolean> {
    return this.#state === 'first' || this.#state === 'retried'
      ? this.#wait(true, milliseconds)
      : this.written();
  }

  /** Resolves once the record is written, retries included. Rejects when it never will be. */
  written(): Promise<boolean> {
    if (this.#state === 'written') return Promise.resolve(true);
    return this.#state === 'given-up' ? Promise.reject(this.#error) : this.#wait(true, undefined);
  }

  markWritten(): void {
    this.#state = 'written';
    for (const waiting of this.#takeAll()) answer(waiting, true);
  }

  markRetried(): void {
    this.#state = 'retried';
    const patient: Waiter[] = [];
    for (const waiting of this.#takeAll()) {
      if (waiting.isPatient) patient.push(waiting);
      else answer(waiting, false);
    }
    this.#waiting = patient;
  }

  markGivenUp(error: unknown): void {
    this.#state = 'given-up';
    this.#error = error;
    for (const waiting of this.#takeAll()) {
      if (waiting.isPatient) waiting.reject(error);
      answer(waiting, false);
    }
  }

  #wait(isPatient: boolean, milliseconds: number | undefined): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds, false);
      const waiting = { isPatient, timer, resolve, reject };
      if (this.#waiting === undefined) this.#waiting = [waiting];
      else this.#waiting.push(waiting);
    });
  }

  #takeAll(): readonly Waiter[] {
    const all = this.#waiting ?? NO_WAITERS;
    this.#waiting = undefined;
    return all;
  }
}

const NO_WAITERS: readonly Waiter[] = [];

/** Has no effect on a promise that is settled already. */
function answer({ timer, resolve }: Waiter, isWritten: boolean): void {
  clearTimeout(timer);
  resolve(isWritten);
}
