import type { JournalEntry } from '../../../ports/money/journal.ts';
import type { Books } from '../books/books.ts';
import type { Projector } from '../projection/projector.ts';
import { decodeRecord, recordHeadOf } from '../records/records.ts';
import type { LedgerSnapshot } from '../snapshot/snapshot-file.ts';
import type { SegmentSequences } from './segment-sequences.ts';

/** Targets of a replay. */
export interface Replayed {
  readonly books: Books;
  readonly segments: SegmentSequences;
  readonly rows: Pick<Projector, 'expect' | 'confirm'>;
}

/** Returns a function that applies a record, unless the snapshot and the rows have it already. */
export function replayInto(
  { books, segments, rows }: Replayed,
  snapshot: LedgerSnapshot | undefined,
): (entry: JournalEntry) => void {
  const rowsTo = snapshot?.rowsTo ?? 0;
  const known = Math.min(snapshot?.books.sequence ?? 0, rowsTo);
  return ({ position, record: bytes }) => {
    const { sequence } = recordHeadOf(bytes);
    segments.note(position, sequence);
    if (sequence <= known) return;
    const record = decodeRecord(bytes);
    books.apply(record);
    if (record.kind !== 'settle' || sequence <= rowsTo) return;
    rows.expect(record);
    rows.confirm(record);
  };
}
