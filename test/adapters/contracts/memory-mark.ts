import type { LedgerMark } from '../../../src/ports/money/ledger-mark.ts';

/** The mark of a ledger in memory. */
export class MemoryMark implements LedgerMark {
  sequence = 0;
  /** If set, `write` rejects with it. */
  failure: Error | undefined;

  async read(): Promise<number> {
    return this.sequence;
  }

  async write(sequence: number): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.sequence = sequence;
  }
}
