import { expect, it } from 'vitest';
import { clockTime, datedTime, dateTime, dayName, duration, relative } from './times.ts';

it.each([
  [1.94, '1.9 ms'],
  [612.4, '612 ms'],
  [11_840, '11.84 s'],
  [124_000, '2 m 04 s'],
  [12_000_000, '3 h 20 m'],
  [100_000_000, '1 d 3 h'],
])('writes a duration of %d ms as %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it('writes moments and days in the zone of the reader', () => {
  const ms = new Date(2026, 10, 3, 14, 59, 57, 902).getTime();
  expect(clockTime(ms)).toBe('14:59:57.902');
  expect(dayName(ms)).toBe('Tuesday 3 November');
});

it('writes how long ago something was, or when it will be', () => {
  expect(relative(0, 240_000)).toBe('4 minutes ago');
  expect(relative(10_800_000, 0)).toBe('in 3 hours');
});

it('names the year of a moment of another year, and always of one that may lie far ahead', () => {
  const at = (year: number) => new Date(year, 10, 3, 14, 59).getTime();
  expect(dateTime(at(2026), at(2026))).toBe('3 Nov, 14:59');
  expect(dateTime(at(2025), at(2026))).toBe('3 Nov 2025, 14:59');
  expect(datedTime(at(2026))).toBe('3 Nov 2026, 14:59');
});
