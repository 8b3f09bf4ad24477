import {
  type Append,
  type Durability,
  type Journal,
  type JournalPosition,
  JournalUnavailable,
} from '../../../ports/money/journal.ts';
import { PendingWrite } from './pending-write.ts';
import { encodeRecord, type LedgerRecord } from './records.ts';

export interface RecordWriterOptions {
  readonly journal: Journal;
  /** Called for every written record, before its waiters continue. */
  written(record: LedgerRecord, position: JournalPosition, bytes: number): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

interface EntryOutcome {
  succeed(entry: Entry, position: JournalPosition): void;
  fail(entry: Entry, error: Error): void;
}

/** A record being written. Waiters hold its `write` only, because a record is large. */
class Entry implements Append {
  readonly write = new PendingWrite();
  readonly ledgerRecord: LedgerRecord;
  readonly record: Uint8Array;
  readonly durability: Durability;
  readonly #outcome: EntryOutcome;

  constructor(record: LedgerRecord, durability: Durability, outcome: EntryOutcome) {
    this.ledgerRecord = record;
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
 * Writes the records that the books have applied. A record that the disk refuses is written again as soon as the disk
 * works, in sequence except for records that were under way together. The books tolerate that order. The journal logs
 * that its disk fails.
 */
export class RecordWriter {
  readonly #options: RecordWriterOptions;
  readonly #pending = new Set<Entry>();
  #retried: Entry[] = [];
  #retryTimer: NodeJS.Timeout | undefined;
  #last: Uint8Array | undefined;
  readonly #outcome: EntryOutcome = {
    succeed: (entry, position) => this.#succeed(entry, position),
    fail: (entry, error) => this.#fail(entry, error),
  };

  constructor(options: RecordWriterOptions) {
    this.#options = options;
  }

  /** False while refused records are retried. */
  get isKeepingUp(): boolean {
    return this.#retried.length === 0;
  }

  get waiting(): number {
    return this.#pending.size;
  }

  write(record: LedgerRecord, durability: Durability): PendingWrite {
    const entry = new Entry(record, durability, this.#outcome);
    this.#pending.add(entry);
    if (this.isKeepingUp) this.#options.journal.enqueue(entry);
    else this.#retryLater(entry);
    return entry.write;
  }

  /** Resolves once all records given by now are written. */
  async flushed(): Promise<void> {
    await Promise.all([...this.#pending].map(({ write }) => write.written()));
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
    entry.write.markWritten();
    this.#options.written(entry.ledgerRecord, position, entry.record.length);
  }

  #fail(entry: Entry, error: Error): void {
    if (error instanceof JournalUnavailable) this.#retryLater(entry);
    else this.#giveUp(entry, error);
  }

  #retryLater(entry: Entry): void {
    this.#retried.push(entry);
    entry.write.markRetried();
    this.#retryTimer ??= setTimeout(() => void this.#retry(), RETRY_MS).unref();
  }

  async #retry(): Promise<void> {
    this.#retryTimer = undefined;
    const entries = this.#retried.sort(
      (one, other) => one.ledgerRecord.sequence - other.ledgerRecord.sequence,
    );
    this.#retried = [];
    await Promise.all(entries.map((entry) => this.#tryAgain(entry)));
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
    this.#options.warn('a record of the ledger cannot be kept', {
      kind: entry.ledgerRecord.kind,
      error,
    });
    entry.write.markGivenUp(error);
  }
}
