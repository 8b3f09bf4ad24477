import type { LedgerLoss } from '../../../ports/money/ledger-mark.ts';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';
import type { OpenedJournal } from '../../journal/open-journal.ts';
import { nameOfSegment } from '../../journal/segment.ts';
import type { LedgerDataProblem } from '../records/codec.ts';
import { type LedgerSnapshot, SNAPSHOT_NAME } from './snapshot-file.ts';

/**
 * The books need a snapshot and the segments after it, or all segments from the first. Throws a DataDirectoryProblem
 * when neither was found.
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

/** Throws a DataDirectoryProblem when the books end before their mark, unless `accept` is given. */
export function assertNothingLost(
  files: JournalFiles,
  loss: LedgerLoss,
  accept: ((loss: LedgerLoss) => void) | undefined,
): void {
  const { endsAt, knownTo } = loss;
  if (endsAt >= knownTo) return;
  if (accept !== undefined) {
    accept(loss);
    return;
  }
  const state = endsAt === 0 ? 'holds no records' : `ends at record ${endsAt}`;
  throw new DataDirectoryProblem(
    `the journal in ${files.pathOf('')} ${state}, but the database beside it knows of record ${knownTo}: ` +
      'the journal was lost or is older. Nothing was changed: put both back from the same backup; if there ' +
      'is none, signalbox ledger accept-loss goes on without what is missing',
    false,
  );
}
