/**
 * How far the ledger had come, kept apart from it: without that, a journal that was lost looks like a new one, and one from an
 * old backup like the last.
 */
export interface LedgerMark {
  /** Sequence of a record that the ledger cannot have lost; 0 when nothing is known. */
  read(): Promise<number>;
  write(sequence: number): Promise<void>;
}

/** A ledger that ends before its mark. */
export interface LedgerLoss {
  /** Sequence of the last record that is there; 0 for none. */
  readonly endsAt: number;
  /** Sequence that the mark says. */
  readonly knownTo: number;
}
