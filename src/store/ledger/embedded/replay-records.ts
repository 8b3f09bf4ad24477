import type { JournalEntry } from '../../../ports/journal.ts';
import type { Books } from '../books/books.ts';
import type { AnyProjector } from '../projection/projector.ts';
import { decodeRecord, recordHeadOf } from '../records/records.ts';
import type { LedgerSnapshot } from '../snapshot/snapshot-file.ts';
import type { SegmentSequences } from './segment-sequences.ts';

/** Targets of a replay. */
export interface Replayed {
  readonly books: Books;
  readonly segments: SegmentSequences;
  readonly projectors: readonly AnyProjector[];
}

/** Returns a function that applies a record, unless the snapshot and all projections have it already. */
export function replayInto(
  { books, segments, projectors }: Replayed,
  snapshot: LedgerSnapshot | undefined,
): (entry: JournalEntry) => void {
  const readers = projectors.map((projector) => ({
    projector,
    has: snapshot?.positions.find(({ name }) => name === projector.name)?.sequence ?? 0,
  }));
  const known = Math.min(snapshot?.books.sequence ?? 0, ...readers.map(({ has }) => has));
  return ({ position, record: bytes }) => {
    const { sequence } = recordHeadOf(bytes);
    segments.note(position, sequence);
    if (sequence <= known) return;
    const record = decodeRecord(bytes);
    books.apply(record);
    if (record.kind !== 'settle') return;
    for (const { projector, has } of readers) {
      if (sequence <= has) continue;
      projector.expect(record);
      projector.confirm(record);
    }
  };
}
