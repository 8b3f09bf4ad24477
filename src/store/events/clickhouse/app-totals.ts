import type { DayWindow } from '../../../ports/events/events.ts';
import { dailySumsIn } from './query-sql.ts';

/** The query for app totals. Columns: app, then tokens of each window, then requests of each. */
export function appTotalsSql(windows: readonly DayWindow[], prunedBeforeMs: number): string {
  const startMs = Math.min(...windows.map((window) => window.startMs));
  const endMs = Math.max(...windows.map((window) => window.endMs));
  const within = (sum: string) =>
    windows.map((window) => `sumIf(${sum}, at_ms >= ${window.startMs} AND at_ms < ${window.endMs})`);
  const [first = '0', ...others] = within('requests');
  return `SELECT app, ${[...within('prompt_tokens + completion_tokens'), `${first} AS first`, ...others].join(', ')}
    FROM ${dailySumsIn({ startMs, endMs, prunedBeforeMs })} AND isNotNull(app) AND is_zdr = 0
    GROUP BY app HAVING first > 0`;
}
