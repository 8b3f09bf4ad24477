import { describe, expect, it } from 'vitest';
import type { Amount } from '../../../ir/amount.ts';
import { windowsAt } from '../../../kit/time/windows.ts';
import { NOTHING_SPENT, spend, spendingAt } from './spending.ts';

const at = (text: string) => windowsAt(Date.parse(text));
const credit = (nanos: bigint): Amount => ({ creditNanos: nanos, byokNanos: 0n });

describe('spending', () => {
  it('is summed over everything and over each window, credits and BYOK apart', () => {
    // A Sunday, a Monday of the same month, and the next month.
    const sunday = spend(NOTHING_SPENT, { creditNanos: 1n, byokNanos: 10n }, at('2025-06-29T23:00:00Z'));
    const monday = spend(sunday, { creditNanos: 2n, byokNanos: 20n }, at('2025-06-30T01:00:00Z'));
    expect(monday.credit).toEqual({ lifetime: 3n, daily: 2n, weekly: 2n, monthly: 3n });
    expect(monday.byok).toEqual({ lifetime: 30n, daily: 20n, weekly: 20n, monthly: 30n });
    const tuesday = spend(monday, credit(4n), at('2025-07-01T01:00:00Z'));
    expect(tuesday.credit).toEqual({ lifetime: 7n, daily: 4n, weekly: 6n, monthly: 4n });
    expect(tuesday.byok).toEqual({ lifetime: 30n, daily: 0n, weekly: 20n, monthly: 0n });
  });

  it('counts nothing of a window that is over, and is not changed by looking', () => {
    const spent = spend(NOTHING_SPENT, credit(5n), at('2025-06-15T12:00:00Z'));
    expect(spendingAt(spent, at('2025-06-16T00:00:00Z')).credit.daily).toBe(0n);
    expect(spendingAt(spent, at('2025-06-15T23:59:59Z')).credit.daily).toBe(5n);
  });

  it('stays in its window when the clock is set back an hour over midnight, however often', () => {
    let spending = spend(NOTHING_SPENT, credit(1n), at('2025-06-15T23:30:00Z'));
    for (let round = 0; round < 3; round++) {
      spending = spend(spending, credit(1n), at('2025-06-16T00:30:00Z'));
      spending = spend(spending, credit(1n), at('2025-06-15T23:30:00Z'));
    }
    expect(spendingAt(spending, at('2025-06-15T23:40:00Z')).credit.daily).toBe(6n);
    expect(spendingAt(spending, at('2025-06-16T10:00:00Z')).credit.daily).toBe(6n);
    expect(spendingAt(spending, at('2025-06-17T00:00:00Z')).credit.daily).toBe(0n);
  });

  it('keeps a window that a wrong clock opened in the future: it refuses rather than lets pass', () => {
    const future = spend(NOTHING_SPENT, credit(5n), at('2099-01-01T00:00:00Z'));
    const now = at('2025-06-15T12:00:00Z');
    expect(spendingAt(future, now).credit.daily).toBe(5n);
    const spent = spend(future, credit(2n), now);
    expect(spent.windows).toEqual(at('2099-01-01T00:00:00Z'));
    expect(spendingAt(spent, now).credit.daily).toBe(7n);
    expect(spendingAt(spent, at('2099-01-02T00:00:00Z')).credit).toMatchObject({ daily: 0n, lifetime: 7n });
  });
});
