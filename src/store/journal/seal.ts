import { type JournalFiles, readRange, writeAll } from './journal-files.ts';
import type { StoredSegment } from './read-journal.ts';
import { nameOfSegment } from './segment.ts';

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
