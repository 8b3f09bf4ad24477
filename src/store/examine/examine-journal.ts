import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountStatement } from '../../ports/money/ledger.ts';
import { readGatewayId } from '../directory/gateway-identity.ts';
import { diskFilesIn } from '../journal/disk-files.ts';
import type { JournalFiles } from '../journal/journal-files.ts';
import { type JournalContent, readJournal } from '../journal/read-journal.ts';
import { Books } from '../ledger/books/books.ts';
import type { BookedEnds } from '../ledger/postgres/booking/booked-ends.ts';
import { LocalGenerations } from '../ledger/postgres/booking/local-generations.ts';
import { replayWithPlace } from '../ledger/records/journal-problems.ts';
import { decodeRecord, recordHeadOf } from '../ledger/records/records.ts';
import { assertComplete, assertNothingLost } from '../ledger/snapshot/assert-complete.ts';
import { readSnapshotFile } from '../ledger/snapshot/snapshot-file.ts';
import type { GenerationWithRow, SqliteFacts } from './examine-sqlite.ts';

export interface JournalFacts {
  readonly segments: number;
  readonly bytes: number;
  /** Bytes of unfinished records at the ends of segments. */
  readonly tornTailBytes: number;
}

export interface BooksFacts {
  readonly journal: JournalFacts;
  readonly accounts: readonly AccountStatement[];
  readonly openReservations: number;
  /** Generations with a row but without a record, last settled first. */
  readonly unrecorded: readonly GenerationWithRow[];
  /** Damage of a snapshot that the journal can replace. */
  readonly snapshotProblem: string | undefined;
}

/** Facts about an outbox: what the shared database does not have yet. */
export interface OutboxFacts {
  readonly journal: JournalFacts;
  readonly openGenerations: number;
  /** Settled and not booked. */
  readonly unbookedGenerations: number;
}

/** Facts about the journal in the database beside it. */
export type ExpectedOfJournal = Pick<SqliteFacts, 'ledgerMark' | 'newestGenerations'>;

/** Without a readable database. */
const NOTHING_EXPECTED: ExpectedOfJournal = { ledgerMark: 0, newestGenerations: [] };

/**
 * Reads the books of a locked data directory without changing anything. Rejects with a DataDirectoryProblem when
 * something is damaged or missing.
 */
export async function examineBooks(
  directory: string,
  { ledgerMark, newestGenerations }: ExpectedOfJournal = NOTHING_EXPECTED,
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
 * Reads the outbox of a gateway with a shared database, as `examineBooks` does. `journals`: booked ends by gateway;
 * without it every settled generation in the outbox counts as unbooked.
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
  if (booked !== undefined) generations.continueAfter(booked);
  return {
    journal: factsOf(content),
    openGenerations: generations.open.size,
    unbookedGenerations: generations.unbooked.size,
  };
}

/** Treats a missing directory as empty. */
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
 * Generations settled after the last one that the books know. `newest`: rows, last settled first. The books remember
 * at least the last ten thousand ids, so an unknown one was settled long before, or under a clock that was set back,
 * or is lost.
 */
export function unrecordedGenerations(
  newest: readonly GenerationWithRow[],
  known: ReadonlySet<string>,
): readonly GenerationWithRow[] {
  const end = newest.findIndex(({ id }) => known.has(id));
  return end === -1 ? newest : newest.slice(0, end);
}
