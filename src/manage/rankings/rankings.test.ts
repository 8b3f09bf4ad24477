import { describe, expect, it } from 'vitest';
import { dayText } from '../../contract/analytics/dataset-window.ts';
import { rankingsWindow, withPreceding } from './rankings.ts';

const NOW = Date.parse('2026-03-10T15:00:00Z');

const days = (start_date?: string, end_date?: string) => {
  const query = {
    ...(start_date !== undefined && { start_date }),
    ...(end_date !== undefined && { end_date }),
  };
  const { startMs, endMs } = rankingsWindow(query, NOW);
  return [dayText(startMs), dayText(endMs - 1)];
};

describe('rankingsWindow', () => {
  it.each([
    [undefined, undefined, '2026-02-07', '2026-03-09'],
    [undefined, '2026-01-31', '2026-01-01', '2026-01-31'],
    ['2026-03-09', undefined, '2026-03-09', '2026-03-09'],
    ['2024-02-29', '2025-01-01', '2025-01-01', '2025-01-01'],
    [undefined, '2025-01-10', '2025-01-01', '2025-01-10'],
    ['0000-01-01', '2026-01-01', '2025-01-01', '2026-01-01'],
    ['2026-03-01', '2026-12-31', '2026-03-01', '2026-12-31'],
  ])('reads %s to %s as %s to %s', (start, end, resolvedStart, resolvedEnd) => {
    expect(days(start, end)).toEqual([resolvedStart, resolvedEnd]);
  });

  it.each([
    ['2026-02-30', '2026-03-01', /^start_date: .*not in the calendar/],
    ['2026-02-01', '2026-02-31', /^end_date: .*not in the calendar/],
    [undefined, '2026-13-01', /^end_date: .*not in the calendar/],
    [undefined, '2024-12-31', /^end_date: .*2025-01-01/],
    ['2026-02-02', '2026-02-01', /^start_date: must not be after/],
    ['2025-01-01', '2026-01-02', /^start_date: .*366 days/],
    ['2024-01-01', '2026-01-02', /^start_date: .*366 days/],
  ])('refuses %s to %s', (start, end, message) => {
    expect(() => days(start, end)).toThrow(message);
  });

  it('takes exactly 366 days', () => {
    expect(days('2025-01-01', '2026-01-01')).toEqual(['2025-01-01', '2026-01-01']);
  });
});

describe('withPreceding', () => {
  it('goes back by three times its own length', () => {
    const windows = withPreceding(
      rankingsWindow({ start_date: '2026-02-01', end_date: '2026-02-10' }, NOW),
      3,
    );
    expect(windows.map(({ startMs, endMs }) => [dayText(startMs), dayText(endMs - 1)])).toEqual([
      ['2026-02-01', '2026-02-10'],
      ['2026-01-02', '2026-01-31'],
    ]);
  });

  it('finds nothing before the dataset', () => {
    const first = Date.UTC(2025, 0, 1);
    const windows = withPreceding(
      rankingsWindow({ start_date: '2025-01-06', end_date: '2025-01-15' }, NOW),
      3,
    );
    expect(windows.slice(1)).toEqual([{ startMs: first, endMs: Date.UTC(2025, 0, 6) }]);
  });
});
