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

/** A record and those who wait for it. */
interface Entry {
  readonly record: LedgerRecord;
  readonly bytes: Uint8Array;
  readonly durability: Durability;
  readonly done: Promise<void>;
  firstTry(succeeded: boolean): void;
  resolve(): void;
  reject(error: unknown): void;
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
    let firstTry = (_: boolean) => {};
    let resolve = () => {};
    let reject = (_: unknown) => {};
    const atOnce = new Promise<boolean>((settle) => {
      firstTry = settle;
    });
    const done = new Promise<void>((fulfil, refuse) => {
      resolve = fulfil;
      reject = refuse;
    });
    // Whoever does not wait for it must not make the process end.
    done.catch(() => {});
    const entry: Entry = { record, bytes: encodeRecord(record), durability, done, firstTry, resolve, reject };
    this.#pending.add(entry);
    if (this.isKeepingUp) void this.#try(entry);
    else this.#owe(entry);
    return { atOnce, done };
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

  async #try(entry: Entry): Promise<void> {
    const { record, bytes, durability } = entry;
    let position: JournalPosition;
    try {
      position = await this.#options.journal.append(bytes, durability);
    } catch (error) {
      if (error instanceof JournalUnavailable) this.#owe(entry, error);
      else this.#giveUp(entry, error);
      return;
    }
    this.#last = bytes;
    this.#pending.delete(entry);
    this.#options.written(record, position, bytes.length);
    entry.resolve();
    entry.firstTry(true);
  }

  #owe(entry: Entry, error?: unknown): void {
    if (!this.#isFailing) {
      this.#isFailing = true;
      this.#options.warn('the ledger cannot be written; no paid work is begun until it can', { error });
    }
    this.#owed.push(entry);
    entry.firstTry(false);
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
    entry.reject(error);
    entry.firstTry(false);
  }
}
