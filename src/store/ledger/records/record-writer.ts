import {
  type Append,
  type Durability,
  type Journal,
  type JournalPosition,
  JournalUnavailable,
} from '../../../ports/journal.ts';
import { RecordWrite } from './pending-write.ts';
import { encodeRecord, type LedgerRecord } from './records.ts';

export interface RecordWriterOptions {
  readonly journal: Journal;
  /** Called for every written record, before its waiters continue. */
  written(record: LedgerRecord, position: JournalPosition, bytes: number): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Callbacks for the outcome of an entry. */
interface EntryOutcome {
  succeed(entry: Entry, position: JournalPosition): void;
  fail(entry: Entry, error: Error): void;
}

/** A record being written. Waiters hold its `write` only, because a record is large. */
class Entry implements Append {
  readonly write = new RecordWrite();
  readonly kept: LedgerRecord;
  readonly record: Uint8Array;
  readonly durability: Durability;
  readonly #outcome: EntryOutcome;

  constructor(record: LedgerRecord, durability: Durability, outcome: EntryOutcome) {
    this.kept = record;
    this.record = encodeRecord(record);
    this.durability = durability;
    this.#outcome = outcome;
  }

  written(position: JournalPosition): void {
    this.#outcome.succeed(this, position);
  }

  refused(error: Error): void {
    this.#outcome.fail(this, error);
  }
}

const RETRY_MS = 100;

/**
 * Writes the records that the books have applied. A record that the disk refuses is owed: it is written again as soon
 * as the disk works, in sequence except for records that were under way together. The books tolerate that order.
 */
export class RecordWriter {
  readonly #options: RecordWriterOptions;
  readonly #pending = new Set<Entry>();
  #owed: Entry[] = [];
  #retryTimer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #last: Uint8Array | undefined;
  readonly #outcome: EntryOutcome = {
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

  /** Records that are not written yet. */
  get waiting(): number {
    return this.#pending.size;
  }

  write(record: LedgerRecord, durability: Durability): RecordWrite {
    const entry = new Entry(record, durability, this.#outcome);
    this.#pending.add(entry);
    if (this.isKeepingUp) this.#options.journal.take(entry);
    else this.#owe(entry);
    return entry.write;
  }

  /** Resolves once all records given by now are written. */
  async flushed(): Promise<void> {
    await Promise.all([...this.#pending].map(({ write }) => write.done()));
  }

  /**
   * Makes all written records durable: appends the last record again with `power`, which implies all records before
   * it. The repeated record has no effect on the books.
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
    // First, so that an error in the callback cannot keep the waiters waiting; they continue after it anyway.
    entry.write.written();
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
    entry.write.owed();
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

  /** The journal refuses the record itself, for example because it is too large. */
  #giveUp(entry: Entry, error: unknown): void {
    this.#pending.delete(entry);
    this.#options.warn('a record of the ledger cannot be kept', { kind: entry.kept.kind, error });
    entry.write.givenUp(error);
  }
}
