import {
  type Durability,
  type Journal,
  type JournalPosition,
  JournalUnavailable,
} from '../../ports/journal.ts';
import { encodeRecord, type LedgerRecord } from './records.ts';

/** A record on its way into the journal. */
export interface Writing {
  /** Whether the first try succeeded. */
  readonly atOnce: Promise<boolean>;
  /** Resolves once the record survives what was asked for, however many tries that takes. */
  readonly done: Promise<void>;
}

export interface RecordWriterOptions {
  readonly journal: Journal;
  /** Is told of every record that is written, before those who wait for it. */
  written(record: LedgerRecord, position: JournalPosition, bytes: number): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** A record and those who wait for it. Nearly always the first try succeeds, so nothing is made for a later one before. */
class Entry implements Writing {
  readonly record: LedgerRecord;
  readonly bytes: Uint8Array;
  readonly durability: Durability;
  readonly atOnce: Promise<boolean>;
  #firstTry: (succeeded: boolean) => void = () => {};
  #late: PromiseWithResolvers | undefined;

  constructor(record: LedgerRecord, durability: Durability) {
    this.record = record;
    this.bytes = encodeRecord(record);
    this.durability = durability;
    this.atOnce = new Promise((resolve) => {
      this.#firstTry = resolve;
    });
  }

  get done(): Promise<void> {
    const done = this.atOnce.then((succeeded) => (succeeded ? undefined : this.#late?.promise));
    // Whoever does not wait for it must not make the process end.
    done.catch(() => {});
    return done;
  }

  written(): void {
    this.#late?.resolve();
    this.#firstTry(true);
  }

  owed(): void {
    this.#late ??= promiseWithResolvers();
    this.#firstTry(false);
  }

  givenUp(error: unknown): void {
    this.#late ??= promiseWithResolvers();
    this.#late.reject(error);
    this.#firstTry(false);
  }
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

function promiseWithResolvers(): PromiseWithResolvers {
  let resolve = () => {};
  let reject = (_: unknown) => {};
  const promise = new Promise<void>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}

const RETRY_MS = 100;

/**
 * Writes what the books have decided. It has happened, so a record that the disk does not take is owed: it is written as
 * soon as the disk works again, after those before it, unless they were under way together. The books bear that.
 */
export class RecordWriter {
  readonly #options: RecordWriterOptions;
  readonly #pending = new Set<Entry>();
  #owed: Entry[] = [];
  #retryTimer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #last: Uint8Array | undefined;

  constructor(options: RecordWriterOptions) {
    this.#options = options;
  }

  /** False while records are owed. */
  get isKeepingUp(): boolean {
    return this.#owed.length === 0;
  }

  /** Records that are not safe yet. */
  get waiting(): number {
    return this.#pending.size;
  }

  write(record: LedgerRecord, durability: Durability): Writing {
    const entry = new Entry(record, durability);
    this.#pending.add(entry);
    if (this.isKeepingUp) void this.#try(entry);
    else this.#owe(entry);
    return entry;
  }

  /** Resolves once all that was given by now is written. */
  async flushed(): Promise<void> {
    await Promise.all([...this.#pending].map(({ done }) => done));
  }

  /**
   * Makes all that was written by this process survive the end of the machine: the last record is appended once more, which
   * the books do not mind, and what is on the disk has those before it with it.
   */
  async sync(): Promise<void> {
    if (this.#last !== undefined) await this.#options.journal.append(this.#last, 'power');
  }

  close(): void {
    clearTimeout(this.#retryTimer);
  }

  #try(entry: Entry): Promise<void> {
    return this.#options.journal.append(entry.bytes, entry.durability).then(
      (position) => this.#succeed(entry, position),
      (error: unknown) => {
        if (error instanceof JournalUnavailable) this.#owe(entry, error);
        else this.#giveUp(entry, error);
      },
    );
  }

  #succeed(entry: Entry, position: JournalPosition): void {
    this.#last = entry.bytes;
    this.#pending.delete(entry);
    // First: they are told after this anyway, and whatever others make of the record cannot keep it from them.
    entry.written();
    this.#options.written(entry.record, position, entry.bytes.length);
  }

  #owe(entry: Entry, error?: unknown): void {
    if (!this.#isFailing) {
      this.#isFailing = true;
      this.#options.warn('the ledger cannot be written; no paid work is begun until it can', { error });
    }
    this.#owed.push(entry);
    entry.owed();
    this.#retryTimer ??= setTimeout(() => void this.#retry(), RETRY_MS).unref();
  }

  async #retry(): Promise<void> {
    this.#retryTimer = undefined;
    const owed = this.#owed.sort((one, other) => one.record.sequence - other.record.sequence);
    this.#owed = [];
    await Promise.all(owed.map((entry) => this.#try(entry)));
    if (this.#owed.length > 0 || !this.#isFailing) return;
    this.#isFailing = false;
    this.#options.warn('the ledger can be written again', { records_written_late: owed.length });
  }

  /** Nothing that a disk does: the record itself is not one that a journal takes. */
  #giveUp(entry: Entry, error: unknown): void {
    this.#pending.delete(entry);
    this.#options.warn('a record of the ledger cannot be kept', { kind: entry.record.kind, error });
    entry.givenUp(error);
  }
}
