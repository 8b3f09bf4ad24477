import type { OpenedJournal } from '../journal/open-journal.ts';

/** Tells the operator what was dropped at the end of segments. Returns how many bytes that was. */
export function reportTornTails(
  { tornTails }: OpenedJournal,
  warn: (message: string, fields: Readonly<Record<string, unknown>>) => void,
): number {
  for (const { file, offset, bytes } of tornTails) {
    warn('the journal ended in a record that was being written; it was dropped, and nobody was told of it', {
      file,
      offset,
      bytes,
    });
  }
  return tornTails.reduce((sum, { bytes }) => sum + bytes, 0);
}
