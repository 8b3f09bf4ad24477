/** Position of a record in the journal; later records have greater positions. */
export interface JournalPosition {
  readonly segment: number;
  /** Bytes from the beginning of the segment to the end of the record. */
  readonly offset: number;
}

/** A record that was read back. */
export interface JournalEntry {
  readonly position: JournalPosition;
  readonly record: Uint8Array;
}

/**
 * Failures that a record survives: `process`, a crash of the process; `power`, also a power loss. `power` waits for a
 * sync of the disk, which all waiting appends share.
 */
export type Durability = 'process' | 'power';

/** The disk takes no records: nothing may be done that must be recorded. */
export class JournalUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'JournalUnavailable';
  }
}

/** A record to append, and the callbacks for its outcome. Its bytes must not change until one of them is called. */
export interface Append {
  readonly record: Uint8Array;
  readonly durability: Durability;
  /** The record is as durable as asked for. Must not throw. */
  written(position: JournalPosition): void;
  /** The record may be in the journal all the same, see `append`. Must not throw. */
  refused(error: Error): void;
}

export interface DiskWaits {
  /** How long the journal has waited for the disk by now, milliseconds; 0 if it does not, or for at most 50 ms. */
  readonly waitingMs: number;
  /** Operations that took longer than 50 ms. */
  readonly slowWrites: number;
  /** The longest of all operations, milliseconds. */
  readonly longestMs: number;
}

/** An append-only file of records in segments. */
export interface Journal {
  /**
   * Appends a record and resolves once it is as durable as asked for; its bytes must not change until then. Records
   * keep the order of their appends. Rejects with JournalUnavailable; the record may be in the journal all the same,
   * so a record that is appended again must be recognised when it is read twice.
   */
  append(record: Uint8Array, durability: Durability): Promise<JournalPosition>;
  /**
   * `append` with callbacks instead of a promise, for the hot path. `refused` may be called synchronously.
   */
  enqueue(append: Append): void;
  /**
   * False from a failure of the disk until it works again: begin nothing new meanwhile. Appends of work under way are
   * accepted as long as the reserved room lasts, and rejected at once after that.
   */
  readonly isWritable: boolean;
  /** The end of the last record, or where the first one of an empty segment begins. */
  readonly end: JournalPosition;
  readonly disk: DiskWaits;
  readonly size: { readonly segments: number; readonly bytes: number };
  /**
   * Reads all records written by now, oldest first and in portions, so that the event loop is not blocked. The records
   * of a portion share memory. Segments are not released meanwhile.
   */
  read(): AsyncIterable<readonly JournalEntry[]>;
  /** Removes segments that end at or before a position, but never the current one. */
  release(upTo: JournalPosition): Promise<void>;
  /** Writes waiting appends, then closes. */
  close(): Promise<void>;
}
