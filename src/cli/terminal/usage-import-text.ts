import { problemLine } from '../../config/problem.ts';
import type { ImportedView } from '../../control/views.ts';
import { countText } from '../../kit/text/count-text.ts';
import type { BadLine, NotKeptMember } from '../../manage/usage-import/usage-intake.ts';
import { tableText } from './output.ts';

export interface ImportView extends ImportedView {
  /** Empty lines are not counted. */
  readonly lines: number;
  readonly bad: number;
  /** The first bad lines. */
  readonly problems: readonly BadLine[];
  /** Remarks in whole sentences. */
  readonly notes: readonly string[];
}

export function importNotes(
  taken: ImportedView,
  notKept: ReadonlyMap<NotKeptMember, number>,
): readonly string[] {
  return [
    ...(taken.too_old > 0 ? [TOO_OLD] : []),
    ...[...notKept].map(
      ([member, lines]) =>
        `${member} is not kept as it was written (${countText(lines, 'line')}): ${WHY_NOT_KEPT[member]}.`,
    ),
  ];
}

const TOO_OLD =
  'Usage from before the last pruning of events is not imported: whether it was counted already cannot ' +
  'be told any more.';

const WHY_NOT_KEPT: Readonly<Record<NotKeptMember, string>> = {
  session_id: 'usage is not counted by session',
  'app.referer':
    'an app is known by an address with a host, and by localhost only with a title; 512 characters are kept',
  'app.title': '128 printable characters are kept, of an app that is known by its address',
  'app.categories': 'two that are known are kept, of an app that is known by its address',
};

export function importText({ lines, imported, known, too_old, bad, notes }: ImportView): string {
  const counts = [lines, imported, known, too_old, bad].map(String);
  const table = tableText(['LINES', 'IMPORTED', 'KNOWN', 'TOO OLD', 'BAD'], [counts]);
  return `${table}${notes.map((note) => `\n${note}`).join('')}${notes.length === 0 ? '' : '\n'}`;
}

/** `line 17: tokens_prompt: must be >= 0`, and how many more there are. */
export function badLinesText({ bad, problems }: Pick<ImportView, 'bad' | 'problems'>): string {
  const shown = problems.map((problem) => `line ${problem.line}: ${problemLine(problem)}\n`);
  const more = bad - problems.length;
  return `${shown.join('')}${more === 0 ? '' : `and ${countText(more, 'more bad line')}\n`}`;
}
