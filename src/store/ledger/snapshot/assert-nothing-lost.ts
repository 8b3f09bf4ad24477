import type { LedgerLoss } from '../../../ports/ledger-mark.ts';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';

/** Throws a DataDirectoryProblem where the books end before their mark, unless somebody accepts that. */
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
    `the journal in ${files.pathOf('')} ${state}, but the database beside it knows of record ${knownTo}: the journal was lost or is older. Nothing was changed: put both back from the same backup; if there is none, signalbox ledger accept-loss goes on without what is missing`,
    false,
  );
}
