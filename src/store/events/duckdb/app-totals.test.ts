import { expect, test } from 'vitest';
import type { AppTotals } from '../../../ports/events/events.ts';
import { AppTotalsCache } from './app-totals.ts';

const WINDOWS = [
  { startMs: 200, endMs: 300 },
  { startMs: 100, endMs: 200 },
];

function totals(tokens: number, apps = 1): AppTotals {
  const column = (value: number) => new Float64Array(apps).fill(value);
  return {
    apps: Array<string>(apps).fill('app.example'),
    tokens: [column(tokens), column(0)],
    requests: [column(1), column(0)],
  };
}

/** A memory, and what is found where it remembers nothing: each time something else, of so many apps. */
function memory(apps = 1) {
  const remembered = new AppTotalsCache();
  let looks = 0;
  return {
    remembered,
    ask: (windows = WINDOWS) =>
      remembered.of(windows, async () => {
        looks += 1;
        return totals(looks, apps);
      }),
  };
}

test('what was found is remembered, by its windows', async () => {
  const { ask } = memory();
  expect(await ask()).toEqual(totals(1));
  expect(await ask()).toEqual(totals(1));
  expect(await ask(WINDOWS.slice(1))).toEqual(totals(2));
});

test.each([
  ['in the first window', 250, 250, true],
  ['in the last millisecond of a window', 299, 299, true],
  ['around all windows', 0, 999, true],
  ['after them', 300, 400, false],
  ['before them', 0, 99, false],
])('events %s', async (_, firstMs, lastMs, isForgotten) => {
  const { ask, remembered } = memory();
  await ask();
  remembered.changed(firstMs, lastMs);
  expect(await ask()).toEqual(totals(isForgotten ? 2 : 1));
});

test('what may have changed while it was looked for is not remembered', async () => {
  const remembered = new AppTotalsCache();
  let found = (_: AppTotals) => {};
  const asked = remembered.of(
    WINDOWS,
    () =>
      new Promise((resolve) => {
        found = resolve;
      }),
  );
  remembered.changed(250, 250);
  found(totals(1));
  expect(await asked).toEqual(totals(1));
  expect(await remembered.of(WINDOWS, async () => totals(2))).toEqual(totals(2));
});

test('a look that failed leaves nothing behind, and old answers make room', async () => {
  const { ask, remembered } = memory();
  await expect(remembered.of(WINDOWS, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await ask()).toEqual(totals(1));
  for (let day = 0; day < 8; day++) await ask([{ startMs: day, endMs: day + 1 }]);
  expect(await ask()).toEqual(totals(10));
});

test('apps of all answers together are not too many', async () => {
  const { ask } = memory(150_000);
  const looksOf = async (startMs: number) => (await ask([{ startMs, endMs: 9 }])).tokens[0]?.[0];
  expect([await looksOf(1), await looksOf(2), await looksOf(1)]).toEqual([1, 2, 1]);
  expect([await looksOf(3), await looksOf(1), await looksOf(2)]).toEqual([3, 1, 4]);
});

test('an answer that is too long is not remembered, and takes the place of none', async () => {
  const remembered = new AppTotalsCache();
  const look = (tokens: number, apps: number) => async () => totals(tokens, apps);
  await remembered.of(WINDOWS, look(1, 1));
  const day = [{ startMs: 0, endMs: 1 }];
  await remembered.of(day, look(2, 400_001));
  expect(await remembered.of(day, look(3, 1))).toEqual(totals(3));
  expect(await remembered.of(WINDOWS, look(4, 1))).toEqual(totals(1));
});
