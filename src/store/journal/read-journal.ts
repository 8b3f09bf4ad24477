import type { JournalEntry, JournalPosition } from '../../ports/money/journal.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { readJournalFrame, wasSynced } from './frame.ts';
import { type JournalFiles, readRange } from './journal-files.ts';
import {
  isTornHeader,
  nameOfSegment,
  numberOfSegment,
  parseSegmentHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentEnds,
  type SegmentHeader,
  seedOf,
} from './segment.ts';

export interface StoredSegment {
  readonly number: number;
  readonly bytes: number;
  readonly ends: SegmentEnds;
}

/** An unfinished record at the end of a segment, from a crash or power loss. It was never acknowledged. */
export interface TornTail {
  readonly file: string;
  /** Where the tail begins; 0 when the header itself is incomplete. */
  readonly offset: number;
  readonly bytes: number;
}

export interface JournalContent {
  /** Oldest first, without a last one whose header is incomplete: the next segment takes its number and file. */
  readonly segments: readonly StoredSegment[];
  readonly tornTails: readonly TornTail[];
  /** Numbers of the existing files, without gaps; undefined when there are none. */
  readonly found: FoundSegments | undefined;
  readonly next: number;
}

/** First and last number of a run of segments. */
export interface FoundSegments {
  readonly oldest: number;
  readonly newest: number;
}

/**
 * Reads all records, oldest first, and changes nothing. A record's bytes share memory with its segment. Rejects with a
 * DataDirectoryProblem when something is damaged or missing that was safely on the disk; records before it have been
 * visited by then.
 */
export async function readJournal(
  files: JournalFiles,
  visit: (entry: JournalEntry) => void,
): Promise<JournalContent> {
  const numbers = await findSegments(files);
  const torn = await readTornHeader(files, numbers.at(-1));
  const headers: SegmentHeader[] = [];
  for (const number of torn === undefined ? numbers : numbers.slice(0, -1)) {
    headers.push(await readHeader(files, number));
  }
  const segments: StoredSegment[] = [];
  const tornTails: TornTail[] = [];
  for (const [index, header] of headers.entries()) {
    const bytes = await readFrom(files, header.number);
    const read = readRecords(header, bytes, headers[index + 1]?.previous, visit);
    const file = files.pathOf(nameOfSegment(header.number));
    if (read.isDamaged) throw damaged(file, read.ends.written);
    if (read.tornBytes > 0) tornTails.push({ file, offset: read.ends.written, bytes: read.tornBytes });
    segments.push({ number: header.number, bytes: bytes.length, ends: read.ends });
  }
  if (torn !== undefined) tornTails.push(torn);
  const [oldest, newest] = [numbers[0], numbers.at(-1)];
  if (oldest === undefined || newest === undefined) return { segments, tornTails, found: undefined, next: 1 };
  const next = torn === undefined ? newest + 1 : newest;
  return { segments, tornTails, found: { oldest, newest }, next };
}

interface ReadRecords {
  readonly ends: SegmentEnds;
  readonly tornBytes: number;
  readonly isDamaged: boolean;
}

/** `recorded`: the ends in the next segment's header; undefined for the last segment. */
function readRecords(
  header: SegmentHeader,
  bytes: Buffer,
  recorded: SegmentEnds | undefined,
  visit: (entry: JournalEntry) => void,
): ReadRecords {
  const seed = seedOf(header);
  const records = bytes.subarray(0, recorded?.written);
  let synced = recorded?.synced ?? SEGMENT_HEADER_BYTES;
  let written = SEGMENT_HEADER_BYTES;
  for (;;) {
    const frame = readJournalFrame(records, written, seed);
    if (frame === undefined) break;
    written = frame.end;
    synced = Math.max(synced, frame.synced);
    visit({ position: { segment: header.number, offset: written }, record: frame.record });
  }
  return {
    ends: { synced, written },
    tornBytes: records.length - written,
    isDamaged: written < synced || wasSynced(records, written, seed),
  };
}

/** Numbers of all segments, oldest first. */
async function findSegments(files: JournalFiles): Promise<number[]> {
  const numbers = (await readOrExplain(files, '', () => files.list()))
    .flatMap((name) => numberOfSegment(name) ?? [])
    .sort((one, other) => one - other);
  for (const [index, number] of numbers.entries()) {
    const missing = (numbers[index - 1] ?? number - 1) + 1;
    if (missing !== number) {
      throw problemOf(files.pathOf(nameOfSegment(missing)), 'is missing while later segments are there');
    }
  }
  return numbers;
}

/** The last segment, if it consists of an unreadable header only. */
async function readTornHeader(files: JournalFiles, last: number | undefined): Promise<TornTail | undefined> {
  if (last === undefined) return undefined;
  const bytes = await readFrom(files, last, SEGMENT_HEADER_BYTES + 1);
  if (!isTornHeader(bytes)) return undefined;
  return { file: files.pathOf(nameOfSegment(last)), offset: 0, bytes: bytes.length };
}

async function readHeader(files: JournalFiles, number: number): Promise<SegmentHeader> {
  const path = files.pathOf(nameOfSegment(number));
  const header = parseSegmentHeader(await readFrom(files, number, SEGMENT_HEADER_BYTES));
  if (typeof header === 'string') throw problemOf(path, header);
  if (header.number !== number) throw problemOf(path, `is segment ${header.number} under another name`);
  return header;
}

/** The bytes of a segment, or the first `length` of them. Rejects with a DataDirectoryProblem. */
async function readFrom(files: JournalFiles, number: number, length?: number): Promise<Buffer> {
  const name = nameOfSegment(number);
  return readOrExplain(files, name, async () => {
    const file = await files.open(name, 'read');
    try {
      return await readRange(file, 0, length ?? (await file.size()));
    } finally {
      await file.close();
    }
  });
}

async function readOrExplain<T>(files: JournalFiles, name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new DataDirectoryProblem(
      `${files.pathOf(name)} cannot be read (${code}); look at its permissions and its disk`,
      false,
      error,
    );
  }
}

/** A durable record cannot be read. */
function damaged(file: string, offset: number): DataDirectoryProblem {
  return problemOf(file, `is damaged at byte ${offset}: a record that was safely on the disk cannot be read`);
}

function problemOf(file: string, problem: string): DataDirectoryProblem {
  return new DataDirectoryProblem(
    `${file} ${problem}; nothing was changed: put the data directory back from a backup`,
    false,
  );
}

/** Bytes handed over at a time, so that the event loop is not blocked. */
const PORTION_BYTES = 128 * 1024;

/**
 * Reads the records of a segment of an open journal up to the end of a record, in portions. Rejects with a
 * DataDirectoryProblem when one cannot be read.
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
    const frame = readJournalFrame(bytes, at, seed);
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
