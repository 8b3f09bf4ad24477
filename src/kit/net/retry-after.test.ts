import { expect, it } from 'vitest';
import { retryAfterOf } from './retry-after.ts';

const NOW = Date.parse('2025-06-01T00:00:00Z');

it.each([
  [{ 'retry-after': '7' }, 7],
  [{ 'retry-after': ' 0.2 ' }, 0.2],
  [{ 'retry-after': 'Sun, 01 Jun 2025 00:00:20 GMT' }, 20],
  [{ 'retry-after': 'Sat, 31 May 2025 23:59:50 GMT' }, -10],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1.5],
  [{}, undefined],
])('reads %j', (headers, seconds) => {
  expect(retryAfterOf(headers as Record<string, string>, NOW)).toBe(seconds);
});
