import type { JournalEntry } from '../../../ports/money/journal.ts';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';
import type { OpenedJournal } from '../../journal/open-journal.ts';
import { nameOfSegment } from '../../journal/segment.ts';
import { LedgerDataProblem } from './codec.ts';

/** Wraps a replay: an unreadable record becomes a DataDirectoryProblem that names its place. */
export function replayWithPlace(
  files: JournalFiles,
  replay: (entry: JournalEntry) => void,
): (entry: JournalEntry) => void {
  return (entry) => {
    try {
      replay(entry);
    } catch (error) {
      if (!(error instanceof LedgerDataProblem)) throw error;
      const { segment, offset } = entry.position;
      throw new DataDirectoryProblem(
        `${files.pathOf(nameOfSegment(segment))}, record that ends at byte ${offset}: ${error.message}`,
        false,
        error,
      );
    }
  };
}

const TORN_RECORD =
  'the journal ended in an unfinished record; it was dropped, and had not been acknowledged';
const TORN_HEADER =
  'the journal ended in a segment with an incomplete header and no records; the segment is replaced';

/** Logs what was dropped at the ends of segments. Returns the number of bytes. */
export function reportTornTails(
  { tornTails }: OpenedJournal,
  warn: (message: string, fields: Readonly<Record<string, unknown>>) => void,
): number {
  for (const { file, offset, bytes } of tornTails) {
    warn(offset === 0 ? TORN_HEADER : TORN_RECORD, { file, offset, bytes });
  }
  return tornTails.reduce((sum, { bytes }) => sum + bytes, 0);
}
