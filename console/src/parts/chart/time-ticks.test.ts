import { expect, it } from 'vitest';
import { timeTicks } from './time-ticks.ts';

/** A moment in the zone of the reader. */
const at = (month: number, day: number, hour = 0, minute = 0) =>
  new Date(2026, month - 1, day, hour, minute).getTime();

const textsOf = (fromMs: number, toMs: number, most: number): string[] => {
  const { ticks, text } = timeTicks(fromMs, toMs, most);
  return ticks.map(text);
};

it('stand at round times of the clock', () => {
  expect(textsOf(at(11, 19, 0, 14), at(11, 20, 0, 14), 4)).toEqual(['06:00', '12:00', '18:00']);
  expect(textsOf(at(11, 19, 0, 14), at(11, 20, 0, 14), 8)).toEqual([
    '03:00',
    '06:00',
    '09:00',
    '12:00',
    '15:00',
    '18:00',
    '21:00',
  ]);
  expect(textsOf(at(11, 19, 14, 3), at(11, 19, 15, 3), 6)).toEqual([
    '14:10',
    '14:20',
    '14:30',
    '14:40',
    '14:50',
  ]);
});

it('name the day at midnight', () => {
  expect(textsOf(at(11, 19, 18), at(11, 20, 12), 4)).toEqual(['18:00', 'Fri 20', '06:00']);
});

it('stand at days, Mondays and months', () => {
  expect(textsOf(at(11, 2, 5), at(11, 8, 5), 8)).toEqual(['3 Nov', '4 Nov', '5 Nov', '6 Nov', '7 Nov']);
  expect(textsOf(at(10, 21, 5), at(11, 20, 5), 5)).toEqual(['26 Oct', '2 Nov', '9 Nov', '16 Nov']);
  expect(textsOf(at(1, 10), at(12, 10), 4)).toEqual(['Apr 2026', 'Jul 2026', 'Oct 2026']);
});
