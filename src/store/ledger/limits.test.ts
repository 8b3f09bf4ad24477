import { describe, expect, it } from 'vitest';
import { type Limit, remainingNanos } from './limits.ts';
import { NOTHING_SPENT, spend } from './spending.ts';
import { windowsAt } from './windows.ts';

const spending = spend(NOTHING_SPENT, { creditNanos: 3n, byokNanos: 4n }, windowsAt(0));

describe('what remains of a limit', () => {
  it.each([
    [10n, false, 7n],
    [10n, true, 3n],
    [5n, true, 0n],
  ])('of %d, BYOK counted: %s', (nanos, countsByok, remaining) => {
    const limit: Limit = { window: 'daily', nanos, countsByok };
    expect(remainingNanos(limit, spending)).toBe(remaining);
  });
});
