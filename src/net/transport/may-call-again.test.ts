import { expect, it } from 'vitest';
import { mayCallAgain } from './may-call-again.ts';

it.each([
  ['over a stale connection', { upstreamStatus: 0, isStale: true }, true],
  ['with a cached token that is refused', { upstreamStatus: 401, hasCachedToken: true }, true],
  ['with a cached token that is forbidden to', { upstreamStatus: 403, hasCachedToken: true }, false],
  ['with a cached token to an upstream that failed', { upstreamStatus: 500, hasCachedToken: true }, false],
  ['with a lasting key that is refused', { upstreamStatus: 401, isStale: false }, false],
  ['that was never answered', { upstreamStatus: 0, isStale: false }, false],
])('whether an endpoint may be called again after a call %s', (_, ended, expected) => {
  expect(mayCallAgain(ended)).toBe(expected);
});
