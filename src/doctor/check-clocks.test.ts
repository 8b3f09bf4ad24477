import { expect, it } from 'vitest';
import { checkClocks } from './check-clocks.ts';
import type { Situation } from './situation.ts';

function look(aheadMs: readonly (number | null | undefined)[], database: object = { kind: 'sqlite' }) {
  const reaches = aheadMs.map((clock_ahead_ms = null) => ({ reach: { ok: true, clock_ahead_ms } }));
  return checkClocks({
    providers: Promise.resolve([{ reach: { ok: false } }, { reach: null }, ...reaches]),
    database: Promise.resolve(database),
  } as unknown as Situation);
}

const verdicts = async (...given: Parameters<typeof look>) =>
  (await look(...given)).map(({ verdict, what }) => [verdict, what]);

it('compares with the median of the clocks of providers', async () => {
  expect(await verdicts([900_000, 0, -500])).toEqual([['ok', 'this clock agrees with that of 3 providers']]);
  expect(await verdicts([undefined])).toEqual([]);
  expect(await verdicts([-31_000])).toEqual([['warning', 'this clock is 31 s ahead of that of 1 provider']]);
  expect(await verdicts([301_000, 400_000])).toEqual([
    ['problem', 'this clock is 7 min behind that of 2 providers'],
  ]);
});

it('compares with the clock of the database, and finds generations from the future', async () => {
  const facts = { clockAheadMs: 40_000, lastSettledAtMs: Date.now() + 3_600_000 };
  expect(await verdicts([], { kind: 'postgres', facts })).toEqual([
    ['warning', 'this clock is 40 s behind that of PostgreSQL'],
    ['problem', 'the last generation has a time 60 min in the future'],
  ]);
  const off = (clockAheadMs: number) => verdicts([], { kind: 'postgres', facts: { clockAheadMs } });
  expect((await off(1_900)).map(([verdict]) => verdict)).toEqual(['ok']);
  expect((await off(-2_100)).map(([verdict]) => verdict)).toEqual(['warning']);
  expect((await off(-61_000)).map(([verdict]) => verdict)).toEqual(['problem']);
  expect(await verdicts([], { kind: 'sqlite', facts: { lastSettledAtMs: Date.now() } })).toEqual([]);
});
