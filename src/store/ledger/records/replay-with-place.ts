import type { JournalEntry } from '../../../ports/journal.ts';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';
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
