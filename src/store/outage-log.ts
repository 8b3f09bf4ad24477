import { awayCodeOf, isDatabaseAway } from './sql/database-unavailable.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface OutageWords {
  /** Logged with the cause when something stops working. */
  readonly begins: string;
  /** Logged with `away_ms` when it works again. */
  readonly ends: string;
  /** Fields of both lines: what fails, for example its path. */
  readonly place?: Fields;
  /** How long it must work before the end is logged, so that a disk that comes and goes is one outage. 0 by default. */
  readonly steadyMs?: number;
  /** Fields of the first line: why it fails. `causeFields` by default. */
  readonly cause?: (error: unknown) => Fields;
}

/** Logs an outage as two lines: its beginning with the cause, and its end with how long it has lasted. */
export class OutageLog {
  readonly #warn: (message: string, fields?: Fields) => void;
  readonly #words: OutageWords;
  /** When the outage began and when work succeeded after it; undefined = there is none. */
  #outage: { readonly beganAt: number; endedAt: number | undefined } | undefined;
  #ending: NodeJS.Timeout | undefined;

  constructor(warn: (message: string, fields?: Fields) => void, words: OutageWords) {
    this.#warn = warn;
    this.#words = words;
  }

  failed(error: unknown): void {
    clearTimeout(this.#ending);
    if (this.#outage === undefined) {
      this.#outage = { beganAt: performance.now(), endedAt: undefined };
      const { begins, place, cause = causeFields } = this.#words;
      this.#warn(begins, { ...place, ...cause(error) });
    } else this.#outage.endedAt = undefined;
  }

  worked(): void {
    if (this.#outage === undefined || this.#outage.endedAt !== undefined) return;
    this.#outage.endedAt = performance.now();
    const { steadyMs = 0 } = this.#words;
    if (steadyMs === 0) this.close();
    else this.#ending = setTimeout(() => this.close(), steadyMs).unref();
  }

  /** Logs the end if it is not logged yet. */
  close(): void {
    clearTimeout(this.#ending);
    const { beganAt, endedAt } = this.#outage ?? {};
    if (beganAt === undefined || endedAt === undefined) return;
    this.#outage = undefined;
    this.#warn(this.#words.ends, { ...this.#words.place, away_ms: Math.round(endedAt - beganAt) });
  }
}

/** `errno` if a disk or a database fails. Other errors are faults of our own and are logged with their stack. */
export function causeFields(error: unknown): Fields {
  const errno = awayCodeOf(error);
  return isDatabaseAway(error) || SYSTEM_CODE.test(errno) ? { errno } : { error };
}

const SYSTEM_CODE = /^(E[A-Z0-9]+|SQLITE_\w+)$/;
