import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountStatement } from '../../ports/ledger.ts';
import { readGatewayId } from '../directory/gateway-identity.ts';
import { diskFilesIn } from '../journal/disk-files.ts';
import type { JournalFiles } from '../journal/journal-files.ts';
import { type JournalContent, readJournal } from '../journal/read-journal.ts';
import { Books } from '../ledger/books/books.ts';
import type { BookedEnds } from '../ledger/postgres/booking/booked-ends.ts';
import { LocalGenerations } from '../ledger/postgres/booking/local-generations.ts';
import { decodeRecord, recordHeadOf } from '../ledger/records/records.ts';
import { replayWithPlace } from '../ledger/records/replay.ts';
import { assertComplete, assertNothingLost } from '../ledger/snapshot/assert-complete.ts';
import { readSnapshotFile } from '../ledger/snapshot/snapshot-file.ts';
import type { BookedGeneration, SqliteFacts } from './examine-sqlite.ts';

/** What a journal takes on the disk. */
export interface JournalFacts {
  readonly segments: number;
  readonly bytes: number;
  /** At the ends of segments, being written when the machine or the process stopped. */
  readonly tornTailBytes: number;
}

/** What the books of an embedded ledger say. */
export interface BooksFacts {
  readonly journal: JournalFacts;
  readonly accounts: readonly AccountStatement[];
  readonly openReservations: number;
  /** Generations that the database has a row of and the journal no record, the last settled first. */
  readonly unrecorded: readonly BookedGeneration[];
  /** What is wrong with the snapshot, where the journal has everything all the same. */
  readonly snapshotProblem: string | undefined;
}

/** What has not reached a shared database yet. */
export interface OutboxFacts {
  readonly journal: JournalFacts;
  readonly openGenerations: number;
  /** Settled and not booked. */
  readonly unbookedGenerations: number;
}

/** What the database beside a journal knows of it. */
export type KnownOfJournal = Pick<SqliteFacts, 'ledgerMark' | 'newestGenerations'>;

/** The database cannot be read, or there is none. */
const NOTHING_KNOWN: KnownOfJournal = { ledgerMark: 0, newestGenerations: [] };

/**
 * Reads the books of a data directory that is held by this process, without changing anything. Rejects with a DataDirectoryProblem where something is damaged or missing.
 */
export async function examineBooks(
  directory: string,
  { ledgerMark, newestGenerations }: KnownOfJournal = NOTHING_KNOWN,
): Promise<BooksFacts> {
  const files = filesIn(join(directory, 'journal'));
  const { snapshot, damage } = await readSnapshotFile(files);
  const books = new Books(snapshot?.books);
  const known = snapshot?.books.sequence ?? 0;
  const content = await readJournal(
    files,
    replayWithPlace(files, ({ record }) => {
      if (recordHeadOf(record).sequence > known) books.apply(decodeRecord(record));
    }),
  );
  assertComplete(files, content.found, snapshot, damage);
  assertNothingLost(files, { endsAt: books.sequence, knownTo: ledgerMark }, undefined);
  const { older, recent } = books.snapshot().ended;
  return {
    journal: factsOf(content),
    unrecorded: unrecordedGenerations(newestGenerations, new Set([...older, ...recent])),
    accounts: books.verify(),
    openReservations: books.open.size,
    snapshotProblem: damage?.message,
  };
}

/**
 * Reads what a gateway of a shared database still has to book, as `examineBooks` does. `journals`: what of each gateway's journal
 * is booked; without it all that the outbox has may be.
 */
export async function examineOutbox(
  directory: string,
  journals?: ReadonlyMap<string, BookedEnds>,
): Promise<OutboxFacts> {
  const files = filesIn(join(directory, 'outbox'));
  const generations = new LocalGenerations();
  const content = await readJournal(
    files,
    replayWithPlace(files, (entry) => generations.replay(entry)),
  );
  const booked = journals?.get(readGatewayId(directory) ?? '');
  if (booked !== undefined) generations.adopt(booked);
  return {
    journal: factsOf(content),
    openGenerations: generations.open.size,
    unbookedGenerations: generations.unbooked.size,
  };
}

/** A directory that is not there has no files. */
function filesIn(directory: string): JournalFiles {
  return {
    ...diskFilesIn(directory),
    list: () =>
      readdir(directory).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      }),
  };
}

function factsOf({ segments, tornTails }: JournalContent): JournalFacts {
  return {
    segments: segments.length,
    bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    tornTailBytes: tornTails.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/**
 * The generations that were settled after the last one that the books know. `newest`: rows, the last settled first. The books
 * remember the ids of the last ten thousand and more, so one that they do not know was settled long before the others, by a
 * clock that was set back, or is lost to them.
 */
export function unrecordedGenerations(
  newest: readonly BookedGeneration[],
  known: ReadonlySet<string>,
): readonly BookedGeneration[] {
  const end = newest.findIndex(({ id }) => known.has(id));
  return end === -1 ? newest : newest.slice(0, end);
}
