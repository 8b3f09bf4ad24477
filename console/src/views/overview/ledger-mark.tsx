import { useRef } from 'preact/hooks';
import type { Overview } from '../../api/contract.ts';
import { copiedMoney, sumMoney } from '../../format/money.ts';
import { clockTime } from '../../format/times.ts';
import { Icon } from '../../parts/icon.tsx';

/** Events come within 15 s: figures that are behind for longer need a look. */
const LATE_MS = 45_000;

/** Whether the figures agree with the ledger, and up to which generation. */
export function LedgerMark({ overview }: { readonly overview: Overview }) {
  const { ledger, query_time_ms: queryMs } = overview;
  const behindSince = useRef<number | null>(null);
  if (ledger.state === 'behind') behindSince.current ??= Date.now();
  else behindSince.current = null;
  const isLate = behindSince.current !== null && Date.now() - behindSince.current > LATE_MS;
  const isWrong = ledger.state === 'differs' || isLate;
  return (
    <footer class="foot">
      <span class={isWrong ? 'seal warn' : 'seal'} role="status">
        <Icon name={isWrong ? 'warning' : 'equal'} size={14} />
        <span title={`Booked: $${copiedMoney(ledger.booked)}`}>{textOf(ledger, isLate)}</span>
      </span>
      <WrittenOff parts={overview.written_off} />
      <span class="push">answered in {queryMs} ms</span>
    </footer>
  );
}

/** What upstreams bill, or may, and no account is charged. */
function WrittenOff({ parts }: { readonly parts: Overview['written_off'] }) {
  if (parts.length === 0) return null;
  const all = parts.reduce((sum, { cost }) => sum + cost, 0);
  const causes = parts.map(({ cause, cost }) => `${cause.replace('_', ' ')} ${sumMoney(cost)}`).join(', ');
  return (
    <span title={`Charged to no account although upstreams bill it, or may. By cause: ${causes}.`}>
      Written off in this range: {sumMoney(all)} ({causes}).
    </span>
  );
}

function textOf(
  { state, booked, counted, difference, imported, newest_generation_at: newest }: Overview['ledger'],
  isLate: boolean,
): string {
  const amount = `$${copiedMoney(Math.abs(difference))}`;
  const imports = imported === 0 ? '' : ` $${copiedMoney(imported)} of imported usage is not in the ledger.`;
  if (state === 'agrees') {
    const until = newest === null ? '' : ` until ${clockTime(Date.parse(newest)).slice(0, 8)}`;
    return `Matches the ledger: ${sumMoney(booked)}${until}.${imports}`;
  }
  if (state === 'behind' && !isLate) {
    return `The newest generations are not counted yet: ${amount} behind the ledger. They come within 15 s.`;
  }
  return (
    `These figures do not agree with the ledger: it booked $${copiedMoney(booked)}, they have $${copiedMoney(counted)}, ` +
    `a difference of ${amount}. Balances and limits go by the ledger. Run “signalbox ledger rebuild” on the gateway.`
  );
}
