import {
  type Append,
  type Durability,
  type Journal,
  type JournalPosition,
  JournalUnavailable,
} from '../../../ports/journal.ts';
import { RecordWrite } from './record-write.ts';
import { encodeRecord, type LedgerRecord } from './records.ts';

export interface RecordWriterOptions {
  readonly journal: Journal;
  /** Is told of every record that is written, before those who wait for it. */
  written(record: LedgerRecord, position: JournalPosition, bytes: number): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** What becomes of entries. */
interface EntryOutcome {
  succeed(entry: Entry, position: JournalPosition): void;
  fail(entry: Entry, error: Error): void;
}

/** A record on its way. Those who wait hold on to its `writing` alone: a record is large. */
class Entry implements Append {
  readonly writing = new RecordWrite();
  readonly kept: LedgerRecord;
  readonly record: Uint8Array;
  readonly durability: Durability;
  readonly #teller: EntryOutcome;

  constructor(record: LedgerRecord, durability: Durability, teller: EntryOutcome) {
    this.kept = record;
    this.record = encodeRecord(record);
    this.durability = durability;
    this.#teller = teller;
  }

  written(position: JournalPosition): void {
    this.#teller.succeed(this, position);
  }

  refused(error: Error): void {
    this.#teller.fail(this, error);
  }
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
  readonly #teller: EntryOutcome = {
    succeed: (entry, position) => this.#succeed(entry, position),
    fail: (entry, error) => this.#fail(entry, error),
  };

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

  write(record: LedgerRecord, durability: Durability): RecordWrite {
    const entry = new Entry(record, durability, this.#teller);
    this.#pending.add(entry);
    if (this.isKeepingUp) this.#options.journal.take(entry);
    else this.#owe(entry);
    return entry.writing;
  }

  /** Resolves once all that was given by now is written. */
  async flushed(): Promise<void> {
    await Promise.all([...this.#pending].map(({ writing }) => writing.done()));
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

  #succeed(entry: Entry, position: JournalPosition): void {
    this.#last = entry.record;
    this.#pending.delete(entry);
    // First: they are told after this anyway, and whatever others make of the record cannot keep it from them.
    entry.writing.written();
    this.#options.written(entry.kept, position, entry.record.length);
  }

  #fail(entry: Entry, error: Error): void {
    if (error instanceof JournalUnavailable) this.#owe(entry, error);
    else this.#giveUp(entry, error);
  }

  #owe(entry: Entry, error?: unknown): void {
    if (!this.#isFailing) {
      this.#isFailing = true;
      this.#options.warn('the ledger cannot be written; no paid work is begun until it can', { error });
    }
    this.#owed.push(entry);
    entry.writing.owed();
    this.#retryTimer ??= setTimeout(() => void this.#retry(), RETRY_MS).unref();
  }

  async #retry(): Promise<void> {
    this.#retryTimer = undefined;
    const owed = this.#owed.sort((one, other) => one.kept.sequence - other.kept.sequence);
    this.#owed = [];
    await Promise.all(owed.map((entry) => this.#tryAgain(entry)));
    if (this.#owed.length > 0 || !this.#isFailing) return;
    this.#isFailing = false;
    this.#options.warn('the ledger can be written again', { records_written_late: owed.length });
  }

  #tryAgain(entry: Entry): Promise<void> {
    return this.#options.journal.append(entry.record, entry.durability).then(
      (position) => entry.written(position),
      (error: Error) => entry.refused(error),
    );
  }

  /** Nothing that a disk does: the record itself is not one that a journal takes. */
  #giveUp(entry: Entry, error: unknown): void {
    this.#pending.delete(entry);
    this.#options.warn('a record of the ledger cannot be kept', { kind: entry.kept.kind, error });
    entry.writing.givenUp(error);
  }
}
