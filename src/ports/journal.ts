/** Where a record stands in the journal; later ones are greater. */
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
 * What a record survives: `process`, the end of this process by whatever means; `power`, also that of the machine. Who
 * waits for `power` waits for the disk, together with all others who do.
 */
export type Durability = 'process' | 'power';

/** The disk takes no more: nothing that must be recorded may be done. */
export class JournalUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'JournalUnavailable';
  }
}

/** A record that is to be appended, which must not be changed until somebody was told, and who is told of it. */
export interface Append {
  readonly record: Uint8Array;
  readonly durability: Durability;
  /** It survives what `durability` says. Must not throw. */
  written(position: JournalPosition): void;
  /** See `append` for what that means. Must not throw. */
  refused(error: Error): void;
}

/** An append-only file of records in segments. */
export interface Journal {
  /**
   * Appends a record, which must not be changed until then: resolves once it survives what `durability` says. Records stand
   * in the order in which they were appended. Rejects with JournalUnavailable; the record may be there all the same, so
   * whoever appends it again must recognise it when it is read twice.
   */
  append(record: Uint8Array, durability: Durability): Promise<JournalPosition>;
  /** The same without a promise, for whoever appends very many. May tell at once that it was refused. */
  take(append: Append): void;
  /**
   * False from a failure of the disk until it has room and works again: nothing new may be begun. Appends are taken as long
   * as the room lasts that is kept for what is under way; then they are rejected at once.
   */
  readonly isWritable: boolean;
  /** Where the last record ends, or will begin in a segment that has none. */
  readonly end: JournalPosition;
  /** What its segments take on the disk. */
  readonly size: { readonly segments: number; readonly bytes: number };
  /**
   * Reads back what has been written by now, oldest first and some at a time, so that others have their turn between. The
   * records share memory with the whole of what was given together. No segment is let go meanwhile.
   */
  read(): AsyncIterable<readonly JournalEntry[]>;
  /** Lets segments go that end at or before a position, but never the current one. */
  release(upTo: JournalPosition): Promise<void>;
  /** Writes what is waiting, then closes. */
  close(): Promise<void>;
}
