import type { Journal, JournalEntry } from '../../ports/money/journal.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { openDiskFiles } from './disk-files.ts';
import { DiskWatch, type DiskWatchOptions, watchedFiles } from './disk-watch.ts';
import { type JournalFiles, readRange, writeAll } from './journal-files.ts';
import { type FoundSegments, readJournal, type StoredSegment, type TornTail } from './read-journal.ts';
import { nameOfSegment } from './segment.ts';
import { type JournalLimits, SegmentedJournal } from './segmented-journal.ts';

/** Directory and sizes of a journal, and the callbacks that get its records. */
export interface JournalOptions extends Partial<JournalLimits> {
  /** Created if necessary. Only one process may open it: the lock of the data directory ensures that. */
  readonly directory: string;
  /** When a disk counts as slow, and the log of that; absent = not logged. */
  readonly disk?: DiskWatchOptions | undefined;
  /** Logs when the disk fails, and when it works again; absent = not logged. */
  warn?(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Called with every record, oldest first, before the journal opens. Its bytes share memory with a whole segment. */
  replay(entry: JournalEntry): void;
  /** Called after the last record and before anything is changed. Throwing keeps the journal closed. */
  validate?(found: FoundSegments | undefined): void;
}

/** An open journal, and the unfinished records that were dropped from its ends. */
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
 * Opens a journal. It also opens on a disk that cannot be written, and is not writable until the disk is. Rejects with
 * a DataDirectoryProblem when a record is damaged that was safely on the disk.
 */
export async function openJournal(options: JournalOptions, given?: JournalFiles): Promise<OpenedJournal> {
  const unwatched = given ?? (await openJournalFiles(options.directory));
  const disk = new DiskWatch({ path: unwatched.pathOf(''), ...(options.disk ?? { warn() {} }) });
  const files = watchedFiles(unwatched, disk);
  const { segments, tornTails, found, next } = await readJournal(files, (entry) => options.replay(entry));
  options.validate?.(found);
  const stored = { segments: await sealAll(files, segments), next, disk };
  const journal = new SegmentedJournal(files, limitsOf(options), stored, options.warn ?? (() => {}));
  await journal.start();
  return { journal, tornTails, found };
}

/** Opens the directory of a journal, creating it if necessary. Rejects with a DataDirectoryProblem. */
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
 * Makes durable what was read: all records, and that nothing follows them. A segment that the disk does not let us
 * change stays as it is.
 */
export async function sealAll(
  files: JournalFiles,
  segments: readonly StoredSegment[],
): Promise<StoredSegment[]> {
  const sealed: StoredSegment[] = [];
  for (const segment of segments) {
    const { ends, bytes } = segment;
    // The last segment is always sealed again: without a successor not even its truncation is certain.
    const isSealed = segment !== segments.at(-1) && ends.synced === ends.written && ends.written === bytes;
    sealed.push(isSealed ? segment : await seal(files, segment).catch(() => segment));
  }
  return sealed;
}

/**
 * Rewrites the part that is not known to be on the disk: after a failed sync the system marks dropped pages as clean,
 * so that another sync alone would not write them.
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
