import { expect, it } from 'vitest';
import { answeredTone, recentCalls } from './recent-calls.ts';

it('looks at the newest calls alone', () => {
  const history = { slot_seconds: 900, calls: [100, 7, 2], failures: [100, 1, 2] };
  expect(recentCalls(history)).toEqual({ calls: 9, failures: 3 });
  expect(recentCalls(null)).toEqual({ calls: 0, failures: 0 });
});

it.each([
  [0, 0, 'ok'],
  [100, 5, 'ok'],
  [100, 6, 'warn'],
  [3, 1, 'warn'],
  [4, 2, 'bad'],
  [1, 1, 'bad'],
])('shows %i calls of which %i failed as %s', (calls, failures, tone) => {
  expect(answeredTone({ calls, failures })).toBe(tone);
});
