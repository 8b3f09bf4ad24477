import type { OpenedJournal } from '../../journal/open-journal.ts';

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
