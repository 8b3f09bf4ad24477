/**
 * Sequence of a record that the ledger must have, stored apart from the journal. Without it a lost journal looks like
 * a new one, and one from an old backup like the latest.
 */
export interface LedgerMark {
  /** 0 when nothing is known. */
  read(): Promise<number>;
  write(sequence: number): Promise<void>;
}

/** A ledger that ends before its mark. */
export interface LedgerLoss {
  /** Sequence of the last record that is there; 0 for none. */
  readonly endsAt: number;
  /** Sequence in the mark. */
  readonly knownTo: number;
}
