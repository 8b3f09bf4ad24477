import { useCurrentKey } from '../../api/current-key.ts';
import { shortMoney } from '../../format/money.ts';
import { dateTime } from '../../format/times.ts';
import { nextReset, PER_WINDOW } from '../../format/windows.ts';
import { windowOf } from '../keys/key-facts.ts';

/** What the key that is signed in may still spend, and when its limit resets. */
export function KeyLimit() {
  const key = useCurrentKey();
  if (key.limit === null) return <p class="pad sm t2">This key has no limit of its own.</p>;
  const window = windowOf(key);
  const resetMs = nextReset(window, Date.now());
  return (
    <p class="pad sm t2">
      Limit of this key: {shortMoney(key.limit)} {PER_WINDOW[window]},{' '}
      <b>{shortMoney(Math.max(0, key.limit_remaining ?? 0))} left</b>
      {resetMs !== null && `, resets ${dateTime(resetMs)}`}.
    </p>
  );
}
