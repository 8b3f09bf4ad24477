import { openInstallation, requireInstallation } from '../../app/installation.ts';
import type { Flags } from '../../config/runtime.ts';
import type { LedgerView, RebuildView } from '../../control/ledger-view.ts';
import { GatewayError } from '../../ir/errors.ts';
import { countText } from '../../kit/text/count-text.ts';
import { usdText } from '../../kit/text/usd-text.ts';
import type { Fault } from '../../ports/money/ledger.ts';
import type { LedgerLoss } from '../../ports/money/ledger-mark.ts';
import { dataDirectoryLine, installationOptions, runControlCommand } from '../run-control-command.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

/** Explanations of faults, in the order of printing. */
const FAULTS: Readonly<Record<Fault, string>> = {
  tally:
    'the sums and the balance of the account are missing from ledger_tallies, although something was booked or granted',
  equation: 'granted - settled - reserved - left is not 0',
  journals:
    'what the journals of all gateways have booked is not what is settled: something was booked twice or got lost',
  byok:
    'what the journals of all gateways have booked of BYOK credentials is not what ledger_tallies says: ' +
    'something was booked twice or got lost',
  reservations:
    'the account, a workspace or a key has more or less reserved in ledger_tallies than its rows in ' +
    'ledger_reservations hold',
  sums:
    'a sum of the account, a workspace or a key in ledger_tallies is lower than the rows in generations ' +
    'that were booked into it: its limit allows too much',
};

/** Checks the books of every account to the nano-dollar; exit code 1 if any is wrong. */
export async function verifyLedger(flags: Flags): Promise<CommandResult<LedgerView>> {
  const result = await runControlCommand(flags, 'ledger.verify', {});
  const isRight = result.accounts.every(({ fault }) => fault === null);
  const verdict = isRight ? 'The books are right.\n' : faultsText(result);
  const text = `${accountTable(result)}\n${writeOffsText(result)}${factsText(result)}${verdict}`;
  return { result, text, notes: dataDirectoryLine(flags), hasFailed: !isRight };
}

function faultsText({ accounts }: LedgerView): string {
  return (Object.keys(FAULTS) as Fault[])
    .map((fault) => ({
      fault,
      names: accounts.filter((each) => each.fault === fault).map(({ name }) => name),
    }))
    .filter(({ names }) => names.length > 0)
    .map(({ fault, names }) => `The books are WRONG for ${names.join(', ')}: ${FAULTS[fault]}.\n`)
    .join('');
}

/** Rebuilds the rows of generations from the journal as far as it reaches, and the events from all rows. */
export async function rebuildLedger(flags: Flags): Promise<CommandResult<RebuildView>> {
  const result = await runControlCommand(flags, 'ledger.rebuild', {});
  return {
    result,
    text: `There are rows of ${countText(result.generations, 'generation')}, and ${countText(result.events, 'event')}.\n`,
  };
}

function accountTable({ accounts }: LedgerView): string {
  return tableText(
    ['ACCOUNT', 'GRANTED', 'SETTLED', 'RESERVED', 'LEFT', 'DIFFERENCE', 'WRITTEN OFF', 'ID'],
    accounts.map((account) => [
      account.name,
      moneyText(account.granted_usd),
      usdText(account.settled_usd),
      usdText(account.reserved_usd),
      moneyText(account.left_usd),
      String(account.difference_nanos),
      usdText(account.written_off_usd),
      account.id,
    ]),
  );
}

/** What was written off, by account and cause; nothing if nothing was. */
function writeOffsText({ accounts }: LedgerView): string {
  return accounts
    .map(({ name, written_off_by_cause: byCause }) => ({ name, parts: Object.entries(byCause) }))
    .filter(({ parts }) => parts.length > 0)
    .map(({ name, parts }) => {
      const causes = parts.map(([cause, usd]) => `${cause} ${usdText(usd)}`).join(', ');
      return `Written off of ${name} by cause: ${causes}.\n`;
    })
    .join('');
}

function factsText({ open_reservations, generations, journal }: LedgerView): string {
  const torn =
    journal.torn_tail_bytes > 0
      ? `, ${countText(journal.torn_tail_bytes, 'byte')} of a torn end dropped`
      : '';
  return (
    `${countText(open_reservations, 'open reservation')}, ${countText(generations, 'generation')}.\n` +
    `Journal: ${countText(journal.bytes, 'byte')} in ${countText(journal.segments, 'segment')}${torn}.\n`
  );
}

function moneyText(usd: number | null): string {
  return usd === null ? 'none' : usdText(usd);
}

/** The records that were lost; null if none were. */
export interface LossView {
  readonly loss: { readonly ends_at: number; readonly known_to: number } | null;
}

/** Accepts a journal that ends before the last record the database knows; a gateway refuses to start with one. */
export async function acceptLedgerLoss(flags: Flags): Promise<CommandResult<LossView>> {
  const options = installationOptions(flags);
  requireInstallation(options);
  if (options.database !== undefined) {
    throw new GatewayError(
      'invalid-request',
      'the ledger is in the database of DATABASE_URL, which has no journal to be lost; this is for a ' +
        'gateway without one',
    );
  }
  const losses: LedgerLoss[] = [];
  const { close } = await openInstallation({ ...options, acceptLoss: (loss) => losses.push(loss) });
  await close();
  const [loss] = losses;
  return loss === undefined
    ? {
        result: { loss: null },
        text: 'The journal has all that the database knows of. Nothing was changed.\n',
      }
    : { result: { loss: { ends_at: loss.endsAt, known_to: loss.knownTo } }, text: lossText(loss) };
}

function lossText({ endsAt, knownTo }: LedgerLoss): string {
  return (
    `The ledger goes on from record ${endsAt}; what came after it, up to record ${knownTo} or later, is lost.\n` +
    'What keys, workspaces and accounts have spent is as of then, and so are balances: one that was given later is not enforced.\n' +
    'Look at them with signalbox ledger verify and set them with signalbox credits set before the gateway is started.\n'
  );
}
