import type { Journal, JournalEntry } from '../../ports/journal.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { openDiskFiles } from './disk-files.ts';
import { type JournalFiles, readRange, writeAll } from './journal-files.ts';
import { type FoundSegments, readJournal, type StoredSegment, type TornTail } from './read-journal.ts';
import { nameOfSegment } from './segment.ts';
import { type JournalLimits, SegmentedJournal } from './segmented-journal.ts';

/** Where a journal is, its sizes, and who hears what it holds. */
export interface JournalOptions extends Partial<JournalLimits> {
  /** Made if need be. Only one process may have it open: the lock of the data directory sees to that. */
  readonly directory: string;
  /** Is given every record, oldest first, before the journal is open. Its bytes share memory with a whole segment. */
  replay(entry: JournalEntry): void;
  /** Is told what was there, after the last record and before anything is changed. What it throws keeps the journal closed. */
  examine?(found: FoundSegments | undefined): void;
}

/** A journal that is open, and what was lost of it in a way that breaks no promise. */
export interface OpenedJournal {
  readonly journal: Journal;
  readonly tornTails: readonly TornTail[];
  readonly found: FoundSegments | undefined;
}

const MEBIBYTE = 1024 * 1024;

const DEFAULT_LIMITS: JournalLimits = {
  segmentBytes: 64 * MEBIBYTE,
  reservedBytes: 4 * MEBIBYTE,
  maxWaitingBytes: 16 * MEBIBYTE,
  gatherMs: 2,
};

/**
 * Opens a journal. A disk that cannot be written does not keep it from opening: it is not writable then, until the disk
 * is. Rejects with a DataDirectoryProblem where records are damaged that were safely on the disk.
 */
export async function openJournal(options: JournalOptions, given?: JournalFiles): Promise<OpenedJournal> {
  const files = given ?? (await openJournalFiles(options.directory));
  const { segments, tornTails, found, next } = await readJournal(files, (entry) => options.replay(entry));
  options.examine?.(found);
  const journal = new SegmentedJournal(files, limitsOf(options), {
    segments: await sealAll(files, segments),
    next,
  });
  await journal.start();
  return { journal, tornTails, found };
}

/** The directory of a journal on the disk, made if need be. Rejects with a DataDirectoryProblem. */
export async function openJournalFiles(directory: string): Promise<JournalFiles> {
  try {
    return await openDiskFiles(directory);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new DataDirectoryProblem(
      `the directory ${directory} cannot be made (${code}); make the one it is in writable`,
      false,
      error,
    );
  }
}

function limitsOf(given: Partial<JournalLimits>): JournalLimits {
  return {
    segmentBytes: given.segmentBytes ?? DEFAULT_LIMITS.segmentBytes,
    reservedBytes: given.reservedBytes ?? DEFAULT_LIMITS.reservedBytes,
    maxWaitingBytes: given.maxWaitingBytes ?? DEFAULT_LIMITS.maxWaitingBytes,
    gatherMs: given.gatherMs ?? DEFAULT_LIMITS.gatherMs,
  };
}

/**
 * Makes it last what was read and what was not: all records, and that there are no others. What the disk does not let be
 * sealed stays as it is.
 */
export async function sealAll(
  files: JournalFiles,
  segments: readonly StoredSegment[],
): Promise<StoredSegment[]> {
  const sealed: StoredSegment[] = [];
  for (const segment of segments) {
    const { ends, bytes } = segment;
    // Before there is a next one nothing is certain, not even that the file has become shorter.
    const isSealed = segment !== segments.at(-1) && ends.synced === ends.written && ends.written === bytes;
    sealed.push(isSealed ? segment : await seal(files, segment).catch(() => segment));
  }
  return sealed;
}

/**
 * What is not known to be on the disk is written once more: after a sync that failed, the system takes what it dropped for
 * safe, and another sync alone would not bring it to the disk.
 */
async function seal(files: JournalFiles, { number, ends }: StoredSegment): Promise<StoredSegment> {
  const { synced, written } = ends;
  const file = await files.open(nameOfSegment(number), 'change');
  try {
    await file.truncate(written);
    await writeAll(file, await readRange(file, synced, written - synced), synced);
    await file.sync();
  } finally {
    await file.close();
  }
  return { number, bytes: written, ends: { synced: written, written } };
}
