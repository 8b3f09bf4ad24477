import { expect, test } from 'vitest';
import type { AppTotals } from '../../ports/events.ts';
import { AppTotalsMemory } from './app-totals-memory.ts';

const WINDOWS = [
  { startMs: 200, endMs: 300 },
  { startMs: 100, endMs: 200 },
];

function totals(tokens: bigint): AppTotals[] {
  return [{ app: 'app.example', tokens: [tokens, 0n], requests: [1n, 0n] }];
}

/** A memory, and what is found where it remembers nothing: each time something else. */
function memory() {
  const remembered = new AppTotalsMemory();
  let looks = 0n;
  return {
    remembered,
    ask: (windows = WINDOWS) =>
      remembered.of(windows, async () => {
        looks += 1n;
        return totals(looks);
      }),
  };
}

test('what was found is remembered, by its windows', async () => {
  const { ask } = memory();
  expect(await ask()).toEqual(totals(1n));
  expect(await ask()).toEqual(totals(1n));
  expect(await ask(WINDOWS.slice(1))).toEqual(totals(2n));
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
  expect(await ask()).toEqual(totals(isForgotten ? 2n : 1n));
});

test('what may have changed while it was looked for is not remembered', async () => {
  const remembered = new AppTotalsMemory();
  let found = (_: AppTotals[]) => {};
  const asked = remembered.of(
    WINDOWS,
    () =>
      new Promise((resolve) => {
        found = resolve;
      }),
  );
  remembered.changed(250, 250);
  found(totals(1n));
  expect(await asked).toEqual(totals(1n));
  expect(await remembered.of(WINDOWS, async () => totals(2n))).toEqual(totals(2n));
});

test('a look that failed leaves nothing behind, and old answers make room', async () => {
  const { ask, remembered } = memory();
  await expect(remembered.of(WINDOWS, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await ask()).toEqual(totals(1n));
  for (let day = 0; day < 8; day++) await ask([{ startMs: day, endMs: day + 1 }]);
  expect(await ask()).toEqual(totals(10n));
});
