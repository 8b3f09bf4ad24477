import { expect, it } from 'vitest';
import { askedAgain, LONGEST_PAUSE_MS } from './queries.ts';
import { ApiError } from './request.ts';

it('asks again at the pace of a query, until a refusal, and whenever a part of the gateway is away', () => {
  const refused = (status: number) => new ApiError(status, 'no', { metadata: {}, requestId: null });
  expect(askedAgain(null, 15_000)).toBe(15_000);
  expect(askedAgain(null, false)).toBe(false);
  expect(askedAgain(refused(403), 15_000)).toBe(false);
  expect(askedAgain(refused(503), 15_000)).toBe(LONGEST_PAUSE_MS);
  expect(askedAgain(refused(503), false)).toBe(LONGEST_PAUSE_MS);
});
