import type { DoctorView, JournalDiskView, ReadinessParts } from '../control/doctor-view.ts';
import { usdOf } from '../kit/money.ts';
import { countText } from '../kit/text/count-text.ts';
import { bytesText } from '../kit/text/quantities.ts';
import { usdText } from '../kit/text/usd-text.ts';
import type { AccountStatement, Fault } from '../ports/money/ledger.ts';
import {
  type BooksFacts,
  examineBooks,
  examineOutbox,
  type JournalFacts,
} from '../store/examine/examine-journal.ts';
import { MAX_NEWEST_ROWS } from '../store/examine/examine-sqlite.ts';
import { type CheckFinding, fine, problem, warning } from './finding.ts';
import { isImpaired, partsOf } from './part-findings.ts';
import type { Situation } from './situation.ts';

const VERIFY = 'keep a copy of the data directory for the investigation, then run signalbox ledger verify';

/** Checks that the books can be read and are consistent. */
export async function checkLedger(situation: Situation): Promise<CheckFinding[]> {
  const { directory, holder, runtime } = situation;
  if (directory.kind !== 'there' && directory.kind !== 'frozen') return [];
  switch (holder.kind) {
    case 'silent':
      return [warning('not checked: another process has the data directory', null)];
    case 'unknown':
      return [warning('not checked: the data directory cannot be locked', null)];
    case 'process':
      return [
        ...ofProcess(holder.view.ledger, partsOf(holder)),
        ...ofDisk(holder.view.journal_disk),
        ...ofState(holder.view, partsOf(holder)),
      ];
    case 'none':
      if (directory.kind === 'frozen') return [];
      return runtime.database === undefined ? ofBooks(situation) : ofTables(situation);
  }
}

/** A ledger that admits only some generations, or none; what waits for the disk is reported as that. */
function ofState(view: DoctorView, parts: ReadinessParts | undefined): CheckFinding[] {
  if ((view.journal_disk?.waiting_ms ?? 0) > 0) return [];
  if (parts === undefined) {
    return view.ledger_available
      ? []
      : [
          problem(
            'the ledger cannot be written, so paid requests are refused',
            'check the free space and health of its disk, and the database; the gateway then resumes by itself',
          ),
        ];
  }
  const { ledger, store } = parts;
  if (!isImpaired(ledger)) return [];
  if (isImpaired(store))
    return [problem(ledger.reason ?? ledger.status, 'mend the database; the gateway then resumes by itself')];
  const mend =
    ledger.status === 'limited'
      ? 'synchronize this machine and that of the database with a time server (NTP)'
      : 'check the free space and health of its disk; the gateway then resumes by itself';
  return [problem(ledger.reason ?? ledger.status, mend)];
}

/** A disk that does not answer now, or was slow since the gateway started. */
function ofDisk(disk: JournalDiskView | undefined): CheckFinding[] {
  if (disk === undefined || (disk.waiting_ms === 0 && disk.slow_writes === 0)) return [];
  const { waiting_ms: waitingMs, slow_writes: slowWrites, longest_ms: longestMs } = disk;
  if (waitingMs > 0) {
    return [
      problem(
        `the ledger waits for its disk, for ${(waitingMs / 1000).toFixed(1)} s by now; generations wait or are refused`,
        'check the device or the network file system of the data directory; the gateway then resumes by itself',
      ),
    ];
  }
  return [
    warning(
      `the disk of the ledger was slow: ${countText(slowWrites, 'write')} took longer than 50 ms, ` +
        `the longest ${(longestMs / 1000).toFixed(2)} s`,
      'if this goes on, move the data directory to a faster local disk',
    ),
  ];
}

/** An inconsistent account; `difference` in nano-dollars. */
interface WrongAccount {
  readonly account: string;
  readonly fault: Fault;
  readonly difference: number;
}

interface Books {
  readonly wrong: readonly WrongAccount[];
  readonly accounts: number;
  readonly openReservations: number;
  readonly journal: JournalFacts;
}

function ofProcess(ledger: DoctorView['ledger'], parts: ReadinessParts | undefined): CheckFinding[] {
  if (ledger === null && isImpaired(parts?.store)) {
    return [warning('the books were not verified: the database does not answer', null)];
  }
  if (ledger === null) {
    return [
      warning(
        'the gateway did not report its books in time',
        'run signalbox ledger verify, which may take longer',
      ),
    ];
  }
  const { accounts, open_reservations: openReservations, journal } = ledger;
  return judge({
    wrong: accounts.flatMap(({ name, fault, difference_nanos }) =>
      fault === null ? [] : { account: name, fault, difference: difference_nanos },
    ),
    accounts: accounts.length,
    openReservations,
    journal: { ...journal, tornTailBytes: journal.torn_tail_bytes },
  });
}

async function ofBooks({ runtime, database }: Situation): Promise<CheckFinding[]> {
  const found = await database.catch(() => undefined);
  if (found?.kind === 'unknown') return [warning('not checked: DATABASE_URL is invalid', null)];
  const facts = found?.kind === 'sqlite' ? found.facts : undefined;
  const books = await examineBooks(runtime.dataDir, facts);
  const { accounts, openReservations, journal, unrecorded, snapshotProblem } = books;
  return [
    ...lost(unrecorded),
    ...judge({ wrong: wrongOf(accounts), accounts: accounts.length, openReservations, journal }),
    ...(openReservations === 0
      ? []
      : [
          warning(
            `${countText(openReservations, 'generation')} had not ended when the gateway stopped`,
            'the next start settles them by their last checkpoints',
          ),
        ]),
    ...tornTail(journal, unrecorded.length > 0),
    ...(snapshotProblem === undefined
      ? []
      : [
          warning(
            `the snapshot of the ledger is damaged (${snapshotProblem})`,
            'the next start makes a new one from the journal, nothing is lost; check the disk for errors',
          ),
        ]),
  ];
}

async function ofTables({ runtime, database }: Situation): Promise<CheckFinding[]> {
  const found = await database.catch(() => undefined);
  const facts = found?.kind === 'postgres' ? found.facts : undefined;
  const totals = facts?.totals;
  const { journal, unbookedGenerations, openGenerations } = await examineOutbox(
    runtime.dataDir,
    facts?.journals,
  );
  const waiting = unbookedGenerations + openGenerations;
  return [
    ...(totals === undefined
      ? []
      : judge({
          wrong: wrongOf(totals.accounts),
          accounts: totals.accounts.length,
          openReservations: totals.openReservations,
          journal,
        })),
    ...(waiting === 0
      ? []
      : [
          warning(
            `${countText(waiting, 'generation')} in the outbox ${waiting === 1 ? 'is' : 'are'} not ` +
              'booked in the database',
            'start this gateway: it books them',
          ),
        ]),
    ...tornTail(journal, false),
  ];
}

function judge({ wrong, accounts, openReservations, journal }: Books): CheckFinding[] {
  const figures = {
    open_reservations: openReservations,
    journal_segments: journal.segments,
    journal_bytes: journal.bytes,
    torn_tail_bytes: journal.tornTailBytes,
  };
  const facts =
    `${countText(openReservations, 'open reservation')}; journal of ${bytesText(journal.bytes)} in ` +
    `${countText(journal.segments, 'segment')}`;
  if (wrong.length === 0) {
    return [
      fine(`the money equation holds for ${countText(accounts, 'account')} with money, ${facts}`, figures),
    ];
  }
  return wrong.map((each) => problem(wrongText(each), VERIFY, figures));
}

function wrongText({ account, fault, difference }: WrongAccount): string {
  return `${WRONG[fault](account)} (${usdOf(BigInt(difference))} USD)`;
}

const WRONG: Readonly<Record<Fault, (account: string) => string>> = {
  tally: (account) => `the sums and the balance of the account ${account} are missing from the database`,
  equation: (account) => `the money equation does not hold for the account ${account}`,
  journals: (account) =>
    `the amounts that gateways booked for the account ${account} differ from its settled sum`,
  byok: (account) =>
    `the amounts that gateways booked for BYOK credentials of the account ${account} differ from its sum`,
  reservations: (account) =>
    `the reserved amount of the account ${account}, its workspaces or keys differs from its open reservations`,
  sums: (account) =>
    `a sum of the account ${account}, its workspaces or keys is lower than the amounts booked into it`,
};

function wrongOf(accounts: readonly AccountStatement[]): Books['wrong'] {
  return accounts.flatMap(({ accountId, fault, differenceNanos }) =>
    fault === null ? [] : { account: accountId, fault, difference: Number(differenceNanos) },
  );
}

/** Rows without a journal record: their charges are missing from the books. */
function lost(unrecorded: BooksFacts['unrecorded']): CheckFinding[] {
  const [last] = unrecorded;
  const first = unrecorded.at(-1);
  if (last === undefined || first === undefined) return [];
  const nanos = unrecorded.reduce((sum, { creditNanos }) => sum + creditNanos, 0n);
  const extent = unrecorded.length === MAX_NEWEST_ROWS ? 'at least ' : '';
  const times = [first, last].map(({ settledAtMs }) => new Date(settledAtMs).toISOString());
  return [
    problem(
      `the database has ${extent}${countText(unrecorded.length, 'generation')} of which the journal has ` +
        `no record, settled from ${times.join(' to ')} for ${usdText(usdOf(nanos))} USD`,
      'if the journal has lost its end, restore the data directory from a backup before the next start, ' +
        'which would go on without that money; if the clock was set back after them, nothing is lost',
      { unrecorded_generations: unrecorded.length, unrecorded_usd: usdOf(nanos) },
    ),
  ];
}

/** `hasLost`: other records are missing too, so the torn end is not just an interrupted write. */
function tornTail({ tornTailBytes }: JournalFacts, hasLost: boolean): CheckFinding[] {
  if (tornTailBytes === 0) return [];
  const bytes = countText(tornTailBytes, 'byte');
  return [
    hasLost
      ? warning(
          `the journal ends in ${bytes} that are not a complete record`,
          'copy the journal before the next start, which drops them',
        )
      : warning(
          `the journal ends in ${bytes} of a record that was being written when the process or the machine stopped`,
          'the next start drops it; no caller has an answer that depends on it, unless something else cut the file',
        ),
  ];
}
