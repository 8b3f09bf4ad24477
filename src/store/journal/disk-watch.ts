import type { DiskWaits } from '../../ports/money/journal.ts';
import type { JournalFile, JournalFiles } from './journal-files.ts';

/** An operation of the disk that takes longer is slow. */
export const SLOW_DISK_MS = 50;

/** Waits that last this long are logged up to `LINES_PER_MINUTE` times, shorter ones once a minute. */
const LONG_WAIT_MS = 1_000;
const LINES_PER_MINUTE = 3;
const MINUTE_MS = 60_000;

const WAITS =
  'the ledger waits for its disk; generations wait with it or are refused, everything else goes on';

/** Limits and log of a disk watch; tests set their own. */
export interface DiskWatchOptions {
  readonly slowMs?: number | undefined;
  readonly longMs?: number | undefined;
  /** The directory, for the log. */
  readonly path?: string | undefined;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/**
 * Notices a disk that does not answer: operations run in the thread pool, and a timer of the main thread sees that one
 * of them lasts too long. The timer is only pushed back by each operation, which costs less than setting one.
 */
export class DiskWatch implements DiskWaits {
  readonly #slowMs: number;
  readonly #longMs: number;
  readonly #path: string | undefined;
  readonly #warn: DiskWatchOptions['warn'];
  #timer: NodeJS.Timeout | undefined;
  /** For waits that are logged only if they last. */
  #laterTimer: NodeJS.Timeout | undefined;
  #underWay = 0;
  /** When an operation began or ended last, while one is under way. */
  #progressAt = 0;
  #slowWrites = 0;
  /** Value of `#slowWrites` when a wait was logged last. */
  #slowWritesLogged = 0;
  #longestMs = 0;
  /** The wait under way was logged, so that its end is logged too. */
  #isLogged = false;
  /** When the waits of the last minute were logged. */
  #loggedAt: readonly number[] = [];

  constructor({ slowMs = SLOW_DISK_MS, longMs = LONG_WAIT_MS, path, warn }: DiskWatchOptions) {
    this.#path = path;
    this.#slowMs = slowMs;
    this.#longMs = longMs;
    this.#warn = warn;
  }

  get waitingMs(): number {
    const sinceMs = this.#sinceProgressMs();
    return sinceMs > this.#slowMs ? sinceMs : 0;
  }

  get slowWrites(): number {
    return this.#slowWrites;
  }

  get longestMs(): number {
    return Math.max(this.#longestMs, this.waitingMs);
  }

  /** Runs and times a disk operation. The watch handles its end before the caller's own handlers run. */
  during<Result>(operation: () => Promise<Result>): Promise<Result> {
    const beganAt = performance.now();
    this.#underWay++;
    this.#progressAt = beganAt;
    this.#checkIn(this.#slowMs);
    const running = operation();
    const ended = () => this.#ended(beganAt);
    void running.then(ended, ended);
    return running;
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#laterTimer);
    this.#timer = undefined;
  }

  #sinceProgressMs(): number {
    return this.#underWay === 0 ? 0 : performance.now() - this.#progressAt;
  }

  #ended(beganAt: number): void {
    const now = performance.now();
    const tookMs = now - beganAt;
    this.#underWay--;
    this.#progressAt = now;
    if (tookMs > this.#longestMs) this.#longestMs = tookMs;
    if (tookMs <= this.#slowMs) return;
    this.#slowWrites++;
    if (!this.#isLogged) return;
    this.#isLogged = false;
    this.#warn('the disk of the ledger answers again', {
      path: this.#path,
      waited_ms: Math.round(tookMs),
    });
  }

  #checkIn(milliseconds: number): void {
    // One timer for the usual interval, so that it can be pushed back.
    if (milliseconds === this.#slowMs && this.#timer !== undefined) this.#timer.refresh();
    else if (milliseconds === this.#slowMs) {
      this.#timer = setTimeout(() => this.#check(), milliseconds).unref();
    } else {
      clearTimeout(this.#laterTimer);
      this.#laterTimer = setTimeout(() => this.#check(), milliseconds).unref();
    }
  }

  #check(): void {
    const sinceMs = this.#sinceProgressMs();
    if (this.#isLogged || this.#underWay === 0) return;
    if (sinceMs < this.#slowMs) {
      // Timers may fire a little early.
      this.#checkIn(this.#slowMs);
      return;
    }
    const now = performance.now();
    this.#loggedAt = this.#loggedAt.filter((atMs) => now - atMs < MINUTE_MS);
    if (sinceMs < this.#longMs && this.#loggedAt.length > 0) {
      this.#checkIn(this.#longMs - sinceMs);
      return;
    }
    if (this.#loggedAt.length >= LINES_PER_MINUTE) {
      // Logged late if it lasts.
      this.#checkIn(this.#longMs);
      return;
    }
    this.#isLogged = true;
    this.#loggedAt = [...this.#loggedAt, now];
    this.#warn(WAITS, {
      path: this.#path,
      waiting_ms: Math.round(sinceMs),
      slow_writes: this.#slowWrites - this.#slowWritesLogged + 1,
    });
    // The operation under way counts when it ends.
    this.#slowWritesLogged = this.#slowWrites + 1;
  }
}

/** Files whose changes are watched. Reads are not: only starts and projections that are behind read. */
export function watchedFiles(files: JournalFiles, watch: DiskWatch): JournalFiles {
  return {
    pathOf: (name) => files.pathOf(name),
    list: () => files.list(),
    open: async (name, mode) => {
      if (mode === 'read') return files.open(name, mode);
      return watchedFile(await watch.during(() => files.open(name, mode)), watch);
    },
    rename: (from, to) => watch.during(() => files.rename(from, to)),
    remove: (name) => watch.during(() => files.remove(name)),
    sync: () => watch.during(() => files.sync()),
  };
}

function watchedFile(file: JournalFile, watch: DiskWatch): JournalFile {
  return {
    size: () => file.size(),
    read: (into, position) => file.read(into, position),
    write: (bytes, position) => watch.during(() => file.write(bytes, position)),
    writeDurably: (bytes, position) => watch.during(() => file.writeDurably(bytes, position)),
    truncate: (length) => watch.during(() => file.truncate(length)),
    sync: () => watch.during(() => file.sync()),
    close: () => file.close(),
  };
}
