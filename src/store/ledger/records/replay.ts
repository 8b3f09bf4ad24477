import type { JournalEntry } from '../../../ports/journal.ts';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';
import type { OpenedJournal } from '../../journal/open-journal.ts';
import { nameOfSegment } from '../../journal/segment.ts';
import { LedgerDataProblem } from './codec.ts';

/** Replays entries; a record that cannot be understood is a DataDirectoryProblem that names its place. */
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
  'the journal ended in a record that was being written; it was dropped, and nobody was told of it';
const TORN_HEADER =
  'the journal ended in a segment without a whole header and without records; it is begun anew';

/** Tells the operator what was dropped at the end of segments. Returns how many bytes that was. */
export function reportTornTails(
  { tornTails }: OpenedJournal,
  warn: (message: string, fields: Readonly<Record<string, unknown>>) => void,
): number {
  for (const { file, offset, bytes } of tornTails) {
    warn(offset === 0 ? TORN_HEADER : TORN_RECORD, { file, offset, bytes });
  }
  return tornTails.reduce((sum, { bytes }) => sum + bytes, 0);
}
