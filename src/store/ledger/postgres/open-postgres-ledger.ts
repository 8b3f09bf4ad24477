import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { NOTHING } from '../../../ir/amount.ts';
import { isInTime } from '../../../kit/loop/is-in-time.ts';
import { usdOf } from '../../../kit/money.ts';
import type { Clock } from '../../../kit/time/clock.ts';
import type { Durability } from '../../../ports/money/journal.ts';
import type { GatewayIdentity } from '../../directory/gateway-identity.ts';
import type { DiskWatchOptions } from '../../journal/disk-watch.ts';
import type { JournalFiles } from '../../journal/journal-files.ts';
import { openJournal, openJournalFiles } from '../../journal/open-journal.ts';
import type { JournalLimits } from '../../journal/segmented-journal.ts';
import { DatabaseUnavailable } from '../../sql/database-unavailable.ts';
import { GatewayIdInUse, type GatewayLock } from '../../sql/postgres/gateway-lock.ts';
import type { OpenedPostgres } from '../../sql/postgres/open-postgres.ts';
import { type CompleteRow, countUnused, interruptedUse } from '../books/open-generation.ts';
import { WriteOffs } from '../books/write-offs.ts';
import type { OpenedLedger } from '../opened-ledger.ts';
import { replayWithPlace, reportTornTails } from '../records/journal-problems.ts';
import { RecordWriter } from '../records/record-writer.ts';
import { Reconciler } from '../settlement/reconciler.ts';
import { adoptJournal } from './booking/adopt-journal.ts';
import type { BookedEnds } from './booking/booked-ends.ts';
import { Booker } from './booking/booker.ts';
import { LocalGenerations } from './booking/local-generations.ts';
import { ClockWatch } from './clock-watch.ts';
import { Heartbeat } from './heartbeat.ts';
import { PostgresLedger } from './postgres-ledger.ts';
import { Reserver } from './reserving/reserver.ts';
import type { SliceBounds } from './slices/slice-size.ts';
import { Slices } from './slices/slices.ts';
import { type DatabaseClock, databaseClock as serverClock } from './tallies/database-clock.ts';
import { KnownTallies } from './tallies/known-tallies.ts';
import type { ReservingGateway } from './tallies/reserve.ts';
import { forgetAbsent } from './tallies/spending-and-grants.ts';

export interface PostgresLedgerSettings {
  /** The data directory of this gateway. The ledger uses the directory `outbox` in it. */
  readonly directory: string;
  readonly postgres: Pick<OpenedPostgres, 'database' | 'background' | 'isUp'>;
  readonly gatewayId: string;
  /** Identity of this run; absent = ownership is not checked. */
  readonly identity?: Pick<GatewayIdentity, 'id' | 'owner' | 'earlierOwners' | 'renew' | 'forgetOldOwners'>;
  /** Lock on the gateway's id; absent = no lock is taken. */
  readonly lock?: Pick<GatewayLock, 'hold' | 'close'>;
  /** Longest duration of a generation, milliseconds. */
  generationMs(): number;
  /** Retention of rows of generations, milliseconds; absent = unlimited. */
  retentionMs?(): number;
  durability(): Durability;
  /** How much money is held ahead for payers that reserve often; absent = none. */
  readonly slices?: (() => SliceBounds) | undefined;
  /** Completes the row of a generation that crashed after its start; absent = the row is stored as it is. */
  readonly completeRow?: CompleteRow | undefined;
  /** The gateway's clock. Windows go by the database's clock. */
  readonly clock: Clock;
  /** The database's clock; absent = that of its server. */
  readonly databaseClock?: DatabaseClock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Which waits for the disk of the journal are logged, and how; absent = none. */
  readonly slowDisk?: DiskWatchOptions | undefined;
  /** How long a reservation waits for the database, milliseconds. */
  readonly reservationMs?: number;
  /** How long a settlement waits for a failing disk, milliseconds. */
  readonly patienceMs?: number;
  /** Interval of the sweep for stray reservations, milliseconds. */
  readonly sweepMs?: number;
  /** Interval of the row that shows that this gateway lives, milliseconds. */
  readonly heartbeatMs?: number;
  /** Interval of the reconciler, milliseconds. */
  readonly reconcileMs?: number;
  /** How long settling may take beyond the longest generation, milliseconds. */
  readonly leewayMs?: number;
  /** Interval of `forgetAbsent`, milliseconds. */
  readonly forgetMs?: number;
  /** How long a reservation lasts beyond the longest generation, milliseconds. */
  readonly graceMs?: number;
  readonly journal?: Partial<JournalLimits>;
  /** Files of the journal instead of those on the disk. */
  readonly files?: JournalFiles;
}

const MEBIBYTE = 1024 * 1024;

const NO_SLICES: SliceBounds = { maxNanos: 0n, maxShare: 0 };

const DEFAULT_PATIENCE_MS = 10_000;
const DEFAULT_SWEEP_MS = 10_000;
const DEFAULT_HEARTBEAT_MS = 5_000;
const TIDY_SLICES_MS = 1_000;
const DEFAULT_FORGET_MS = 3_600_000;
const DEFAULT_SEGMENT_BYTES = 16 * MEBIBYTE;

/** A reservation outlives the longest generation by this time, so that a crashed gateway can return and settle it. */
const DEFAULT_GRACE_MS = 600_000;

/** Time between attempts to adopt the journal while the database does not answer, milliseconds. */
const ADOPT_RETRY_MS = 250;

/** How long closing waits for the disk, and then for the database. The next start continues both. */
const CLOSING_MS = 2_000;

/**
 * Opens the ledger of a gateway with a shared database, and settles the generations that a crash left open. Rejects
 * with a DataDirectoryProblem when something is damaged that was safely on the disk.
 */
export async function openPostgresLedger(settings: PostgresLedgerSettings): Promise<OpenedLedger> {
  const { postgres, clock, warn } = settings;
  const files = settings.files ?? (await openJournalFiles(join(settings.directory, 'outbox')));
  const generations = new LocalGenerations();
  const opened = await openJournal(
    {
      directory: '',
      warn,
      disk: settings.slowDisk,
      segmentBytes: DEFAULT_SEGMENT_BYTES,
      ...settings.journal,
      replay: replayWithPlace(files, (entry) => generations.replay(entry)),
    },
    files,
  );
  const { journal } = opened;
  const tornTailBytes = reportTornTails(opened, warn);
  const writer = new RecordWriter({ journal, warn, written() {} });
  const { databaseClock = serverClock } = settings;
  const gatewayId = () => settings.identity?.id ?? settings.gatewayId;
  const writeOffs = new WriteOffs();
  const clockWatch = new ClockWatch({ database: postgres.database, databaseClock, clock, warn });
  const booker = new Booker({
    database: postgres.database,
    databaseClock,
    gatewayId,
    owner: settings.identity?.owner,
    generations,
    warn,
    takenOver: () => ledger.takenOver(),
    booked({ releasedNanos, lostSlices }, ends) {
      for (const { slice, settled } of ends) slices.booked(slice, settled?.charge ?? NOTHING);
      slices.lost(lostSlices);
      writeOffs.add([{ cause: 'released', nanos: releasedNanos }]);
      const segment = generations.firstSegment ?? journal.end.segment;
      journal
        .release({ segment, offset: 0 })
        .catch((error: unknown) => warn('old segments of the journal cannot be removed', { error }));
    },
  });
  const known = new KnownTallies(() => clock.monotonic());
  const heartbeat = new Heartbeat({
    database: postgres.database,
    databaseClock,
    gatewayId,
    monotonicMs: () => clock.monotonic(),
  });
  const gateway = (): ReservingGateway => ({
    database: postgres.database,
    clock: databaseClock,
    known,
    gatewayId: gatewayId(),
    lastsMs: settings.generationMs() + (settings.graceMs ?? DEFAULT_GRACE_MS),
  });
  const slices = new Slices({
    gateway,
    isUp: postgres.isUp,
    monotonicMs: () => clock.monotonic(),
    heartbeat,
    bounds: settings.slices ?? (() => NO_SLICES),
  });
  const { isUp } = postgres;
  const waitMs = settings.reservationMs;
  const reserver = new Reserver({ gateway, isUp, clockWatch, generations, booker, slices, waitMs });
  const ledger = new PostgresLedger({
    ...postgres,
    gatewayId,
    owner: settings.identity?.owner,
    databaseClock,
    clockWatch,
    writeOffs,
    warn,
    heartbeat,
    reserver,
    slices,
    generations,
    booker,
    journal,
    writer,
    durability: settings.durability,
    patienceMs: settings.patienceMs ?? DEFAULT_PATIENCE_MS,
    tornTailBytes,
    reconciled: () => reconciler.reconciled,
  });
  const reconciler = new Reconciler({
    open: () => generations.open,
    ledger,
    generationMs: settings.generationMs,
    completeRow: settings.completeRow,
    clock,
    warn,
    everyMs: settings.reconcileMs,
    leewayMs: settings.leewayMs,
  });
  const settledAfterCrash = generations.open.size;
  const releasedAfterCrash = countUnused(generations.open.values());
  const isRestart = generations.lastSequence > 0;
  let rebooked = generations.unbooked.size;
  const adopting = adoptSoon(
    async (signal) => {
      const booked = await bookedOf(generations, settings, signal);
      // Before anything is reserved: others would release it if this gateway was last seen long ago.
      await heartbeat.beat();
      ledger.startBooking(booked);
      rebooked = generations.unbooked.size;
      await settleInterrupted(generations, ledger, clock.now(), settings.completeRow);
    },
    (error) => warn('the ledger cannot go on from its journal', { error }),
  );
  try {
    await adopting.first;
  } catch (error) {
    reconciler.close();
    writer.close();
    await journal.close();
    throw error;
  }
  let forgotten = 0;
  const forgetting = repeatSoon(async () => {
    forgotten += await forgetAbsent(postgres.database);
  }, settings.forgetMs ?? DEFAULT_FORGET_MS);
  await forgetting.first;
  const sweeping = repeatSoon(async () => {
    await clockWatch.compare();
    const count = await ledger.sweep();
    if (count > 0) warn('stray reservations were released', { count });
  }, settings.sweepMs ?? DEFAULT_SWEEP_MS);
  await sweeping.first;
  const beating = repeatSoon(() => ledger.beat(), settings.heartbeatMs ?? DEFAULT_HEARTBEAT_MS);
  const tidying = repeatSoon(() => slices.tidy(), TIDY_SLICES_MS);
  return {
    ledger,
    recentGenerations: ledger,
    restartReason: () => ledger.restartReason,
    report: { settledAfterCrash, releasedAfterCrash, rebooked, isRestart, forgotten, tornTailBytes },
    settleInterrupted: (generationIds) => reconciler.settleInterrupted(generationIds),
    async close() {
      ledger.close();
      reconciler.close();
      await adopting.close();
      await isInTime(writer.flushed(), CLOSING_MS).catch(() => false);
      await isInTime(booker.flush(), CLOSING_MS).catch(() => false);
      await tidying.close();
      await isInTime(slices.close(), CLOSING_MS).catch(() => false);
      await forgetting.close();
      await sweeping.close();
      await beating.close();
      await booker.close();
      writer.close();
      await journal.close();
      settings.lock?.close();
    },
  };
}

/** Adopts the journal in the database, under a new id if a copy has taken the old one. Logs pruned ends. */
async function bookedOf(
  generations: LocalGenerations,
  settings: PostgresLedgerSettings,
  signal: AbortSignal,
): Promise<BookedEnds> {
  const { postgres, identity, retentionMs, clock, warn } = settings;
  const gatewayId = identity?.id ?? settings.gatewayId;
  await settings.lock?.hold(gatewayId, signal);
  const adopted = await adoptJournal(postgres.database, {
    gatewayId,
    owner: identity?.owner,
    earlierOwners: identity?.earlierOwners ?? [],
    lastSequence: generations.lastSequence,
    ends: [...generations.unbooked.values()],
    clock: settings.databaseClock ?? serverClock,
    keptSinceMs: retentionMs === undefined ? Number.NEGATIVE_INFINITY : clock.now() - retentionMs(),
  });
  if (adopted === 'taken') {
    identity?.renew();
    warn('a copy of this data directory has run; this gateway goes on under an id of its own', {
      gateway_id: identity?.id,
    });
    return bookedOf(generations, settings, signal);
  }
  identity?.forgetOldOwners();
  const { booked, pruned } = adopted;
  if (pruned.count > 0) {
    warn(
      'generations in the outbox have no row, and a gateway may have pruned rows of their age ' +
        '(retention.events_days): they count as booked and are not charged again',
      { count: pruned.count, charges_usd: usdOf(pruned.creditNanos) },
    );
  }
  return booked;
}

/** Adopts the journal now, or as soon as the database answers. `first` resolves after the first attempt. */
function adoptSoon(adopt: (signal: AbortSignal) => Promise<void>, failed: (error: unknown) => void) {
  const closing = new AbortController();
  const { signal } = closing;
  const retry = async () => {
    while (!signal.aborted) {
      await delay(ADOPT_RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
      try {
        return signal.aborted ? undefined : await adopt(signal);
      } catch (error) {
        if (signal.aborted) return;
        // A copy that holds the id may end, and this gateway continues then.
        const mayPass = error instanceof DatabaseUnavailable || error instanceof GatewayIdInUse;
        if (!mayPass) return failed(error);
      }
    }
  };
  let trying: Promise<void> | undefined;
  const first = adopt(signal).catch((error: unknown) => {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    trying = retry();
  });
  return {
    first,
    async close() {
      closing.abort();
      await trying;
    },
  };
}

/** Settles what a crash left open. On a failing disk the records follow later. */
async function settleInterrupted(
  generations: LocalGenerations,
  ledger: PostgresLedger,
  atMs: number,
  completeRow: CompleteRow | undefined,
): Promise<void> {
  const settled = Promise.allSettled(
    [...generations.open.values()].map((generation) =>
      ledger.settle(generation.generationId, interruptedUse(generation, atMs, completeRow)),
    ),
  );
  if (ledger.isAvailable) await settled;
}

/** Runs work that needs the database: now, and then periodically. */
function repeatSoon(work: () => Promise<void>, everyMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let sweeping: Promise<void>;
  const sweep = async () => {
    try {
      await work();
    } catch {
      // The database does not answer: the next run tries again.
    }
    if (!isClosed) timer = setTimeout(next, everyMs).unref();
  };
  const next = () => {
    sweeping = sweep();
  };
  sweeping = sweep();
  return {
    first: sweeping,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}
