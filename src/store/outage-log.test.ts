import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { OutageLog } from './outage-log.ts';
import { DatabaseUnavailable } from './sql/database-unavailable.ts';

let lines: [string, unknown][];

beforeEach(() => {
  lines = [];
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const outageLog = (steadyMs: number) =>
  new OutageLog((message, fields) => lines.push([message, fields]), {
    begins: 'it fails',
    ends: 'it works',
    place: { path: '/data' },
    steadyMs,
  });

const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });

it('is two lines, with the cause and the time', () => {
  const log = outageLog(0);
  log.worked();
  for (let times = 0; times < 3; times++) log.failed(new DatabaseUnavailable(full));
  vi.advanceTimersByTime(700);
  for (let times = 0; times < 3; times++) log.worked();
  expect(lines).toEqual([
    ['it fails', { path: '/data', errno: 'ENOSPC' }],
    ['it works', { path: '/data', away_ms: 700 }],
  ]);
});

it('is one outage while it comes and goes', () => {
  const log = outageLog(1_000);
  for (let times = 0; times < 5; times++) {
    log.failed(full);
    vi.advanceTimersByTime(250);
    log.worked();
    vi.advanceTimersByTime(250);
  }
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(1_000);
  expect(lines.slice(1)).toEqual([['it works', { path: '/data', away_ms: 2_250 }]]);
});

it('logs the end at once when it is closed, and no end of an outage that lasts', () => {
  const log = outageLog(1_000);
  log.failed(full);
  log.close();
  expect(lines).toHaveLength(1);
  log.worked();
  log.close();
  expect(lines).toHaveLength(2);
});

it('logs a fault of our own as an error, with its stack', () => {
  const error = new TypeError('x is not a function');
  outageLog(0).failed(error);
  expect(lines).toEqual([['it fails', { path: '/data', error }]]);
});
