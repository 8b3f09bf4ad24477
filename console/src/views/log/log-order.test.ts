import { expect, it } from 'vitest';
import { isNewestFirst, nextOrder, orderOf, orderParameters, orderText } from './log-order.ts';

const of = (query: string) => orderOf(new URLSearchParams(query));

it('is newest first, unless the address names another order that there is', () => {
  expect(['', 'sort=', 'sort=-', 'sort=-model', 'sort=-created_at'].map(of).every(isNewestFirst)).toBe(true);
  expect(of('sort=-duration_ms')).toEqual({ by: 'duration_ms', isDescending: true });
  expect(isNewestFirst(of('sort=created_at'))).toBe(false);
});

it('begins with the largest, and turns round', () => {
  const longest = nextOrder(of(''), 'duration_ms');
  expect(orderText(longest)).toBe('-duration_ms');
  expect(orderText(nextOrder(longest, 'duration_ms'))).toBe('duration_ms');
  expect(orderText(nextOrder(longest, 'created_at'))).toBeNull();
});

it('asks the interface for what it differs in', () => {
  expect(orderParameters(of(''))).toEqual({});
  expect(orderParameters(of('sort=-latency'))).toEqual({ sort: 'latency' });
  expect(orderParameters(of('sort=cost'))).toEqual({ sort: 'cost', order: 'asc' });
});
