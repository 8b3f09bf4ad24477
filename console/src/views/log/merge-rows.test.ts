import { expect, it } from 'vitest';
import type { LoggedGenerationObject } from '../../api/contract.ts';
import { mergedRows, withDays } from './merge-rows.ts';

const row = (id: string, at: Date) => ({ id, created_at: at.toISOString() }) as LoggedGenerationObject;
const at = (day: number, hour: number) => new Date(2026, 10, day, hour);

it('puts new rows at their place by time, each once', () => {
  const loaded = [row('c', at(3, 12)), row('a', at(3, 9))];
  const merged = mergedRows([row('d', at(3, 13)), row('b', at(3, 10)), row('c', at(3, 12))], loaded);
  expect(merged.map(({ id }) => id)).toEqual(['d', 'c', 'b', 'a']);
  expect(mergedRows([row('c', at(3, 12))], loaded)).toBe(loaded);
});

it('begins each day of the reader with a row', () => {
  const rows = withDays([row('c', at(3, 1)), row('b', at(3, 0)), row('a', at(2, 23))]);
  expect(rows.map((each) => (each.kind === 'day' ? 'day' : each.generation.id))).toEqual([
    'day',
    'c',
    'b',
    'day',
    'a',
  ]);
});
