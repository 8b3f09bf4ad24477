import { join } from 'node:path';
import { isInTime } from '../../../kit/loop/is-in-time.ts';
import type { Clock } from '../../../kit/time/clock.ts';
import type { GenerationStore } from '../../../ports/generations/generations.ts';
import type { Durability, JournalEntry } from '../../../ports/money/journal.ts';
import type { ForgettableScope, Ledger } from '../../../ports/money/ledger.ts';
import type { LedgerLoss, LedgerMark } from '../../../ports/money/ledger-mark.ts';
import type { DiskWatchOptions } from '../../journal/disk-watch.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';
import { openJournal, openJournalFiles } from '../../journal/open-journal.ts';
import type { JournalLimits } from '../../journal/segmented-journal.ts';
import { Books } from '../books/books.ts';
import { type CompleteRow, countUnused, interruptedUse } from '../books/open-generation.ts';
import type { OpenedLedger } from '../opened-ledger.ts';
import { Projector } from '../projection/projector.ts';
import { replayWithPlace, reportTornTails } from '../records/journal-problems.ts';
import { RecordWriter } from '../records/record-writer.ts';
import { decodeRecord, recordHeadOf } from '../records/records.ts';
import { Reconciler } from '../settlement/reconciler.ts';
import { assertComplete, assertNothingLost } from '../snapshot/assert-complete.ts';
import { type LedgerSnapshot, readSnapshotFile } from '../snapshot/snapshot-file.ts';
import { Compaction } from './compaction.ts';
import { EmbeddedLedger } from './embedded-ledger.ts';
import { SegmentSequences } from './segment-sequences.ts';

export interface OpenedEmbeddedLedger extends OpenedLedger {
  /** Resolves once everything settled by now has its row, however long that takes. */
  rowsCaughtUp(): Promise<void>;
}

/** Location, dependencies and limits of an embedded ledger. */
export interface EmbeddedLedgerSettings {
  /** The data directory. The ledger uses the directory `journal` in it. */
  readonly directory: string;
  /** Store of the generations' rows. */
  readonly generations: Pick<GenerationStore, 'add' | 'count'>;
  /** Rows that are not events yet; none by default. */
  unfedRows?(): number;
  readonly mark: LedgerMark;
  /** Accepts a ledger that ends before its mark; absent = a DataDirectoryProblem. */
  readonly acceptLoss?: ((loss: LedgerLoss) => void) | undefined;
  /** Existing keys and workspaces: spending of all others is forgotten. */
  readonly exists: Readonly<Record<ForgettableScope, ReadonlySet<string>>>;
  /** Durability of settlements. */
  durability(): Durability;
  /** Completes the row of a generation that crashed after its start; absent = the row is stored as it is. */
  readonly completeRow?: CompleteRow | undefined;
  /** Whether a backup is being made, which needs all segments until its end. */
  isHeld?(): boolean;
  readonly clock: Clock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Which waits for the disk of the journal are logged, and how; absent = none. */
  readonly slowDisk?: DiskWatchOptions | undefined;
  /** Longest duration of a generation, milliseconds; ten minutes by default. */
  generationMs?(): number;
  /** Interval of the reconciler, milliseconds. */
  readonly reconcileMs?: number;
  /** How long settling may take beyond the longest generation, milliseconds. */
  readonly leewayMs?: number;
  /** How long a settlement waits for a failing disk, milliseconds. */
  readonly patienceMs?: number;
  /** Bytes of records after which the next snapshot is taken. */
  readonly snapshotBytes?: number;
  /** Settled generations that wait in memory for their rows; the rest is read from the journal later. */
  readonly maxPendingRows?: number;
  readonly journal?: Partial<JournalLimits>;
  /** Files of the journal instead of those on the disk. */
  readonly files?: JournalFiles;
}

const MEBIBYTE = 1024 * 1024;

const DEFAULT_GENERATION_MS = 600_000;
const DEFAULT_PATIENCE_MS = 10_000;
/** Replayed in about a second at a start after a crash; written in ten seconds by a busy gateway. */
const DEFAULT_SNAPSHOT_BYTES = 32 * MEBIBYTE;
const DEFAULT_SEGMENT_BYTES = 16 * MEBIBYTE;

/** With more segments at the start, compaction begins without waiting for new records. */
const MAX_SEGMENTS_AT_START = 3;

/** How long closing waits for the disk, and then for rows. */
const CLOSING_MS = 2_000;

/**
 * Opens the ledger of a data directory, and settles the generations that a crash left open. Rejects with a
 * DataDirectoryProblem when something is damaged or missing that was safely on the disk.
 */
export async function openEmbeddedLedger(settings: EmbeddedLedgerSettings): Promise<OpenedEmbeddedLedger> {
  const { clock, warn, generations, mark } = settings;
  const files = settings.files ?? (await openJournalFiles(join(settings.directory, 'journal')));
  const { snapshot, damage } = await readSnapshotFile(files);
  const known = await mark.read();
  const books = new Books(snapshot?.books);
  const segments = new SegmentSequences();
  const rows = new Projector({ rows: generations, warn, maxPending: settings.maxPendingRows });
  const opened = await openJournal(
    {
      directory: '',
      warn,
      disk: settings.slowDisk,
      segmentBytes: DEFAULT_SEGMENT_BYTES,
      ...settings.journal,
      replay: replayWithPlace(files, replayInto({ books, segments, rows }, snapshot)),
      validate(found) {
        assertComplete(files, found, snapshot, damage);
        assertNothingLost(files, { endsAt: books.sequence, knownTo: known }, settings.acceptLoss);
      },
    },
    files,
  );
  const { journal, found } = opened;
  const marked = books.sequence < known ? undefined : known;
  if (damage !== undefined) {
    warn('the snapshot of the ledger is damaged; the journal had everything', { problem: damage.message });
  }
  const tornTailBytes = reportTornTails(opened, warn);
  const writer = new RecordWriter({
    journal,
    warn,
    written: (record, position, bytes) => {
      segments.note(position, record.sequence);
      if (record.kind === 'settle') rows.confirm(record);
      compaction.note(bytes);
    },
  });
  const compaction = new Compaction({
    books,
    journal,
    files,
    writer,
    segments,
    rows,
    warn,
    published: { sequence: snapshot?.books.sequence ?? 0, segment: snapshot?.segment ?? found?.oldest ?? 1 },
    mark,
    marked,
    isHeld: settings.isHeld ?? (() => false),
    everyBytes: settings.snapshotBytes ?? DEFAULT_SNAPSHOT_BYTES,
  });
  const ledger = new EmbeddedLedger({
    books,
    journal,
    writer,
    rows,
    unfedRows: settings.unfedRows ?? (() => 0),
    generations,
    durability: settings.durability,
    patienceMs: settings.patienceMs ?? DEFAULT_PATIENCE_MS,
    tornTailBytes,
    reconciled: () => reconciler.reconciled,
    warn,
  });
  const reconciler = new Reconciler({
    open: () => books.open,
    ledger,
    generationMs: settings.generationMs ?? (() => DEFAULT_GENERATION_MS),
    completeRow: settings.completeRow,
    clock,
    warn,
    everyMs: settings.reconcileMs,
    leewayMs: settings.leewayMs,
  });
  const rebooked = ledger.lag.generations ?? 0;
  const releasedAfterCrash = countUnused(books.open.values());
  const isRestart = books.sequence > 0;
  const settledAfterCrash = await settleInterrupted(books, ledger, clock.now(), settings.completeRow);
  const forgotten = await forgetAbsent(books, ledger, settings);
  rows.start(journal);
  await compaction.keepMark();
  await compaction
    .release()
    .catch((error: unknown) => warn('old segments of the journal cannot be removed', { error }));
  if (journal.isWritable && journal.size.segments > MAX_SEGMENTS_AT_START) void compaction.compact();
  return {
    ledger,
    recentGenerations: rows,
    rowsCaughtUp: () => rows.catchUp(),
    report: { settledAfterCrash, releasedAfterCrash, rebooked, isRestart, forgotten, tornTailBytes },
    settleInterrupted: (generationIds) => reconciler.settleInterrupted(generationIds),
    async close() {
      ledger.close();
      reconciler.close();
      await isInTime(writer.flushed(), CLOSING_MS).catch(() => false);
      await isInTime(rows.drain(), CLOSING_MS);
      await rows.close();
      await compaction.close();
      writer.close();
      await journal.close();
    },
  };
}

/** Settles what a crash left open. On a failing disk the books are right at once, and the records follow. */
async function settleInterrupted(
  books: Books,
  ledger: Ledger,
  atMs: number,
  completeRow: CompleteRow | undefined,
): Promise<number> {
  const open = [...books.open.values()];
  const settled = open.map((generation) =>
    ledger.settle(generation.generationId, interruptedUse(generation, atMs, completeRow)),
  );
  const all = Promise.allSettled(settled);
  if (ledger.isAvailable) await all;
  return open.length;
}

async function forgetAbsent(
  books: Books,
  ledger: Ledger,
  { exists, clock }: Pick<EmbeddedLedgerSettings, 'exists' | 'clock'>,
): Promise<number> {
  const absent = (['key', 'workspace'] as const).flatMap((scope) =>
    [...books.idsOf(scope)].filter((id) => !exists[scope].has(id)).map((id) => ({ scope, id })),
  );
  await Promise.all(absent.map(({ scope, id }) => ledger.forget(scope, id, clock.now())));
  return absent.length;
}

/** Targets of a replay. */
interface Replayed {
  readonly books: Books;
  readonly segments: SegmentSequences;
  readonly rows: Pick<Projector, 'expect' | 'confirm'>;
}

/** Returns a function that applies a record, unless the snapshot and the rows have it already. */
function replayInto(
  { books, segments, rows }: Replayed,
  snapshot: LedgerSnapshot | undefined,
): (entry: JournalEntry) => void {
  const rowsTo = snapshot?.rowsTo ?? 0;
  const known = Math.min(snapshot?.books.sequence ?? 0, rowsTo);
  return ({ position, record: bytes }) => {
    const { sequence } = recordHeadOf(bytes);
    segments.note(position, sequence);
    if (sequence <= known) return;
    const record = decodeRecord(bytes);
    books.apply(record);
    if (record.kind !== 'settle' || sequence <= rowsTo) return;
    rows.expect(record);
    rows.confirm(record);
  };
}
