/** `tried`: for the first time; `owed`: that failed, and it is tried again and again. */
type State = 'tried' | 'owed' | 'written' | 'given-up';

/** Somebody who waits for a record. */
interface Waiting {
  /** Also for later tries than the first. */
  readonly isPatient: boolean;
  readonly timer: NodeJS.Timeout | undefined;
  resolve(isWritten: boolean): void;
  reject(error: unknown): void;
}

/** How it goes with a record on its way into the journal. */
export class RecordWrite {
  #state: State = 'tried';
  #error: unknown;
  /** Nearly always the first try succeeds, and one waits for it. */
  #waiting: Waiting[] | undefined;

  /** Whether the first try succeeds, within so many milliseconds. */
  isWrittenWithin(milliseconds: number): Promise<boolean> {
    if (this.#state !== 'tried') return Promise.resolve(this.#state === 'written');
    return this.#wait(false, milliseconds);
  }

  /** Whether the record survives what was asked for, within so many milliseconds. Rejects when it never will. */
  isDoneWithin(milliseconds: number): Promise<boolean> {
    return this.#state === 'tried' || this.#state === 'owed' ? this.#wait(true, milliseconds) : this.done();
  }

  /** Resolves once the record survives what was asked for, however many tries that takes. Rejects when it never will. */
  done(): Promise<boolean> {
    if (this.#state === 'written') return Promise.resolve(true);
    return this.#state === 'given-up' ? Promise.reject(this.#error) : this.#wait(true, undefined);
  }

  written(): void {
    this.#state = 'written';
    for (const waiting of this.#takeAll()) tell(waiting, true);
  }

  owed(): void {
    this.#state = 'owed';
    const patient: Waiting[] = [];
    for (const waiting of this.#takeAll()) {
      if (waiting.isPatient) patient.push(waiting);
      else tell(waiting, false);
    }
    this.#waiting = patient;
  }

  givenUp(error: unknown): void {
    this.#state = 'given-up';
    this.#error = error;
    for (const waiting of this.#takeAll()) {
      if (waiting.isPatient) waiting.reject(error);
      tell(waiting, false);
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

  #takeAll(): readonly Waiting[] {
    const all = this.#waiting ?? NO_WAITERS;
    this.#waiting = undefined;
    return all;
  }
}

const NO_WAITERS: readonly Waiting[] = [];

/** A promise that is settled already stays as it is. */
function tell({ timer, resolve }: Waiting, isWritten: boolean): void {
  clearTimeout(timer);
  resolve(isWritten);
}
