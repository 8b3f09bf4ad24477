import { awayCodeOf, DatabaseUnavailable } from '../../sql/database-unavailable.ts';

type Warn = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Logs the first of a run of failures, and the success that ends it. */
export class FailureWarning {
  readonly #warn: Warn;
  readonly #words: { readonly fails: string; readonly works: string };
  #isFailing = false;

  constructor(warn: Warn, words: { readonly fails: string; readonly works: string }) {
    this.#warn = warn;
    this.#words = words;
  }

  failed(error: unknown): void {
    const isAway = error instanceof DatabaseUnavailable;
    if (!this.#isFailing) this.#warn(this.#words.fails, isAway ? { errno: awayCodeOf(error) } : { error });
    this.#isFailing = true;
  }

  worked(): void {
    if (this.#isFailing) this.#warn(this.#words.works);
    this.#isFailing = false;
  }
}

/** Logged when the file of events was lost. */
export const EVENTS_LOST =
  'the file of the events is gone or was damaged; it is made anew from the rows of generations and the imports that are ' +
  'kept; sums of days before the oldest row do not come back';

/** Logged when rows cannot be fed to the events, and when that works again. */
export const FEED_WARNINGS = {
  fails: 'events cannot be brought in; what was settled waits in the rows of generations',
  works: 'events are brought in again',
};
