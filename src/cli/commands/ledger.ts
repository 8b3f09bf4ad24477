import type { Flags } from '../../config/load.ts';
import type { LedgerView, RebuildView } from '../../control/ledger-view.ts';
import type { Fault } from '../../ports/ledger.ts';
import { tableText, usdText } from '../terminal/output.ts';
import type { Told } from './keys.ts';
import { runControlCommand } from './run-control-command.ts';

/** What a fault means, in the order in which faults are printed. */
const FAULTS: Readonly<Record<Fault, string>> = {
  tally:
    'the sums and the balance of the account are missing from ledger_tallies, although something was booked or granted',
  equation: 'granted - settled - reserved - left is not 0',
  journals:
    'what the journals of all gateways have booked is not what is settled: something was booked twice or got lost',
  byok: 'what the journals of all gateways have booked of own credentials is not what ledger_tallies says: something was booked twice or got lost',
  reservations:
    'the account, a workspace or a key has more or less reserved in ledger_tallies than its rows in ledger_reservations hold',
  sums: 'a sum of the account, a workspace or a key in ledger_tallies is lower than the rows in generations that were booked into it: its limit allows too much',
};

/** Checks the books of every account, to the nano-dollar. Fails where they are wrong. */
export async function verifyLedger(flags: Flags): Promise<Told<LedgerView>> {
  const result = await runControlCommand(flags, 'ledger.verify', {});
  const isRight = result.accounts.every(({ fault }) => fault === null);
  const verdict = isRight ? 'The books are right.\n' : faultsText(result);
  return { result, text: `${accountTable(result)}\n${factsText(result)}${verdict}`, hasFailed: !isRight };
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

/** Makes the rows of generations anew, as far as the journal reaches, and events from all rows. */
export async function rebuildLedger(flags: Flags): Promise<Told<RebuildView>> {
  const result = await runControlCommand(flags, 'ledger.rebuild', {});
  return {
    result,
    text: `There are rows of ${result.generations} generations, and ${result.events} events.\n`,
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

function factsText({ open_reservations, generations, journal }: LedgerView): string {
  const torn = journal.torn_tail_bytes > 0 ? `, ${journal.torn_tail_bytes} bytes of a torn end dropped` : '';
  return (
    `${open_reservations} open reservations, ${generations} generations.\n` +
    `Journal: ${journal.bytes} bytes in ${journal.segments} segments${torn}.\n`
  );
}

function moneyText(usd: number | null): string {
  return usd === null ? 'none' : usdText(usd);
}
