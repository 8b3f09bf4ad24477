import type { JournalEntry, JournalPosition } from '../../ports/journal.ts';
import { readFrame } from './frame.ts';
import type { JournalFiles } from './journal-files.ts';
import { damaged, readFrom } from './read-journal.ts';
import { nameOfSegment, parseSegmentHeader, SEGMENT_HEADER_BYTES, seedOf } from './segment.ts';

/** What is read before others have their turn. */
const PORTION_BYTES = 128 * 1024;

/**
 * Reads the records of a segment of an open journal, up to a place where a record ends, some at a time. Rejects with a
 * DataDirectoryProblem where one cannot be read.
 */
export async function* readSegment(
  files: JournalFiles,
  { segment, offset }: JournalPosition,
): AsyncGenerator<readonly JournalEntry[], void, void> {
  const bytes = (await readFrom(files, segment, offset)).subarray(0, offset);
  const header = parseSegmentHeader(bytes);
  if (typeof header === 'string') throw damaged(files.pathOf(nameOfSegment(segment)), 0);
  const seed = seedOf(header);
  let portion: JournalEntry[] = [];
  let begin = SEGMENT_HEADER_BYTES;
  for (let at = begin; at < offset; ) {
    const frame = readFrame(bytes, at, seed);
    if (frame === undefined) throw damaged(files.pathOf(nameOfSegment(segment)), at);
    at = frame.end;
    portion.push({ position: { segment, offset: at }, record: frame.record });
    if (at - begin < PORTION_BYTES) continue;
    yield portion;
    portion = [];
    begin = at;
  }
  if (portion.length > 0) yield portion;
}
