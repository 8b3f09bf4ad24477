import type { ReadinessParts } from '../contract/envelopes/health.ts';
import { isInTime } from '../kit/loop/is-in-time.ts';
import type { Vault } from '../manage/byok/vault.ts';
import type { EventSizes, EventStore } from '../ports/events/events.ts';
import type { GenerationStore } from '../ports/generations/generations.ts';
import type { Ledger } from '../ports/money/ledger.ts';
import type { Account } from '../ports/tenancy/tenancy.ts';
import { type LedgerView, ledgerView } from './ledger-view.ts';

export type { PartState, ReadinessPart, ReadinessParts } from '../contract/envelopes/health.ts';

export interface CoolingEndpoint {
  readonly model: string;
  readonly tag: string;
  /** Accounts that it cools down for; 0 = for everyone. */
  readonly accounts: number;
  readonly seconds_left: number;
}

/** A destination or classifier that has a problem, or for which generations wait. */
export interface BehindFollower {
  /** Such as `destination/ID`. */
  readonly follower: string;
  /** Null = it is only behind. */
  readonly problem: string | null;
  readonly problem_seconds: number;
  readonly waiting: number;
  readonly dropped: number;
}

export interface RunningState {
  readonly version: string;
  readonly state: 'starting' | 'ready' | 'draining';
  /** Memory of all processes together. */
  readonly memoryBytes: number;
  /** This process and its workers. */
  readonly processes: number;
  readonly requestsInFlight: number;
  readonly generationsInFlight: number;
  /** Longest event loop delay of the last one to two minutes. */
  readonly loopDelaySeconds: number;
  readonly cooling: readonly CoolingEndpoint[];
  /** Followers that are behind, whichever gateway of the database runs them. */
  readonly behind: readonly BehindFollower[];
  /** State of the parts, as `/readyz` reports them. */
  readonly parts: ReadinessParts;
}

export interface DoctorServerView {
  readonly version: string;
  readonly state: RunningState['state'];
  readonly uptime_seconds: number;
  /** Memory of all processes together. */
  readonly memory_bytes: number;
  /** Absent in an older gateway, whose memory is that of one process. */
  readonly processes?: number;
  readonly requests_in_flight: number;
  readonly generations_in_flight: number;
  readonly loop_delay_seconds: number;
  /** Absent in an older gateway. */
  readonly cooling?: readonly CoolingEndpoint[];
  /** Absent in an older gateway. */
  readonly behind?: readonly BehindFollower[];
  /** State of the parts, as `/readyz` reports them. Absent in an older gateway. */
  readonly parts?: ReadinessParts;
}

export interface EventsView {
  readonly events: number;
  readonly daily_rows: number;
  readonly bytes: number;
}

export interface JournalDiskView {
  /** How long the journal has waited for its disk by now; 0 if at most 50 ms. */
  readonly waiting_ms: number;
  /** Operations since the start that took longer than 50 ms. */
  readonly slow_writes: number;
  readonly longest_ms: number;
}

/** State of a data directory, seen by the process that has it open. Null = not found out in time. */
export interface DoctorView {
  /** Null if the process is a command. */
  readonly server: DoctorServerView | null;
  readonly ledger_available: boolean;
  /** How the disk of the journal answers. Absent in an older gateway. */
  readonly journal_disk?: JournalDiskView;
  /** Records that wait to be written, by stage. */
  readonly lag: Readonly<Record<string, number>>;
  readonly ledger: LedgerView | null;
  /**
   * The environment variable that its encryption key comes from; null = the key is in the data directory. Absent in an
   * older gateway.
   */
  readonly encryption_key_variable?: string | null;
  readonly events: EventsView | null;
}

export interface Inspected {
  readonly ledger: Pick<Ledger, 'verify' | 'isAvailable' | 'disk' | 'lag'>;
  readonly generationStore: Pick<GenerationStore, 'writtenOff'>;
  readonly eventStore: Pick<EventStore, 'sizes'>;
  readonly accounts: { list(): Promise<readonly Account[]> };
  readonly vault: Pick<Vault, 'keyVariable'>;
  readonly running?: (() => Promise<RunningState>) | undefined;
}

/** Time limit of each part, milliseconds. */
const PART_MS = 4_000;

/** Collects all parts concurrently. */
export async function doctorView({
  ledger,
  generationStore,
  eventStore,
  accounts,
  vault,
  running,
}: Inspected): Promise<DoctorView> {
  const [server, books, events] = await Promise.all([
    running === undefined ? null : running().then(serverView),
    inTime(async () =>
      ledgerView(await ledger.verify(), await accounts.list(), await generationStore.writtenOff({})),
    ),
    inTime(async () => eventsView(await eventStore.sizes())),
  ]);
  return {
    server,
    ledger_available: ledger.isAvailable,
    journal_disk: {
      waiting_ms: Math.round(ledger.disk.waitingMs),
      slow_writes: ledger.disk.slowWrites,
      longest_ms: Math.round(ledger.disk.longestMs),
    },
    lag: ledger.lag,
    ledger: books,
    encryption_key_variable: vault.keyVariable,
    events,
  };
}

export function eventsView({ events, dailyRows, bytes }: EventSizes): EventsView {
  return { events, daily_rows: dailyRows, bytes };
}

function serverView(running: RunningState): DoctorServerView {
  return {
    version: running.version,
    state: running.state,
    uptime_seconds: Math.round(process.uptime()),
    memory_bytes: running.memoryBytes,
    processes: running.processes,
    requests_in_flight: running.requestsInFlight,
    generations_in_flight: running.generationsInFlight,
    loop_delay_seconds: running.loopDelaySeconds,
    cooling: running.cooling,
    behind: running.behind,
    parts: running.parts,
  };
}

/** The result of work; null if it fails or takes too long. */
async function inTime<T>(work: () => Promise<T>): Promise<T | null> {
  let result: T | null = null;
  const done = work().then((value) => {
    result = value;
  });
  await isInTime(done, PART_MS).catch(() => false);
  return result;
}
