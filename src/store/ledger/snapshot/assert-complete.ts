import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';
import type { OpenedJournal } from '../../journal/open-journal.ts';
import { nameOfSegment } from '../../journal/segment.ts';
import type { LedgerDataProblem } from '../records/codec.ts';
import { type LedgerSnapshot, SNAPSHOT_NAME } from './snapshot-file.ts';

/**
 * A snapshot and the segments behind it make the books, or all segments alone. Throws a DataDirectoryProblem where that
 * is not what was found.
 */
export function assertComplete(
  files: JournalFiles,
  found: OpenedJournal['found'],
  snapshot: LedgerSnapshot | undefined,
  damage: LedgerDataProblem | undefined,
): void {
  const name = files.pathOf(SNAPSHOT_NAME);
  if (snapshot === undefined) {
    if (damage === undefined && found === undefined) return;
    if (found?.oldest === 1) return;
    const problem = damage === undefined ? 'is missing' : `is damaged: ${damage.message}`;
    throw incomplete(`${name} ${problem}, and the journal beside it does not reach back to the beginning`);
  }
  const { segment } = snapshot;
  if (found === undefined || found.oldest > segment || found.newest < segment) {
    throw incomplete(
      `${files.pathOf(nameOfSegment(segment))} is missing, where the journal goes on from ${name}`,
    );
  }
}

function incomplete(problem: string): DataDirectoryProblem {
  return new DataDirectoryProblem(`${problem}; put the data directory back from a backup`, false);
}
