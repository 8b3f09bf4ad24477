import { describe, expect, it } from 'vitest';
import type { Limit, Spending } from '../../ports/ledger.ts';
import { remainingNanos } from './remaining-nanos.ts';

const sums = (nanos: bigint) => ({ lifetime: 2n * nanos, daily: nanos, weekly: nanos, monthly: nanos });
const spending: Spending = {
  windows: { daily: 1, weekly: 1, monthly: 1 },
  credit: sums(3n),
  byok: sums(4n),
};

describe('what remains of a limit', () => {
  it.each([
    ['daily', 10n, false, 7n],
    ['daily', 10n, true, 3n],
    ['daily', 5n, true, 0n],
    ['lifetime', 10n, false, 4n],
  ] as const)('%s of %d, BYOK counted: %s', (window, nanos, countsByok, remaining) => {
    const limit: Limit = { window, nanos, countsByok };
    expect(remainingNanos(limit, spending)).toBe(remaining);
  });
});
