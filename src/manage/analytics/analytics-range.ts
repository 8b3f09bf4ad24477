import type { AnalyticsQuery } from '../../contract/analytics.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { utcUnlessSaidMs } from '../../kit/time/iso-moment.ts';
import { windowsAt } from '../../kit/time/windows.ts';
import type { Granularity } from '../../ports/event-names.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const DEFAULT_DAYS = 7;
const MOST_DAYS = 365;
const MOST_HOURS_OF_MINUTES = 3;

/** What limits a range. */
export interface RangeLimit {
  readonly longestMs: number;
  /** As a message says it. */
  readonly words: string;
}

/** From the first millisecond to the one after the last. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

/** No range is longer. */
export const WHOLE_LIMIT: RangeLimit = limitOfDays(MOST_DAYS);

/** The limit of time buckets of a minute. */
export const MINUTE_LIMIT: RangeLimit = {
  longestMs: MOST_HOURS_OF_MINUTES * HOUR_MS,
  words: `${MOST_HOURS_OF_MINUTES} hours with granularity minute`,
};

/** A limit of so many days, because of what a question has in it. */
export function limitOfDays(days: number, causes: readonly string[] = []): RangeLimit {
  const because = causes.length === 0 ? '' : ` with ${causes.join(', ')}`;
  return { longestMs: days * DAY_MS, words: `${days} days${because}` };
}

/** The range of a question; without one the days that end now. What is wrong is added to `issues`. */
export function parseRange(
  wanted: AnalyticsQuery['time_range'],
  nowMs: number,
  limits: readonly RangeLimit[],
  issues: Issue[],
): TimeRange {
  const range = wanted === undefined ? defaultRange(nowMs) : givenRange(wanted, issues);
  const lengthMs = range.endMs - range.startMs;
  const [tightest] = limits
    .filter(({ longestMs }) => lengthMs > longestMs)
    .sort((one, other) => one.longestMs - other.longestMs);
  if (tightest !== undefined) {
    const which = wanted === undefined ? `; without one it is the last ${DEFAULT_DAYS} days` : '';
    issues.push({ path: 'time_range', message: `must not be longer than ${tightest.words}${which}` });
  }
  return range;
}

function defaultRange(nowMs: number): TimeRange {
  return { startMs: nowMs - DEFAULT_DAYS * DAY_MS, endMs: nowMs };
}

const NO_RANGE: TimeRange = { startMs: 0, endMs: 0 };

function givenRange(wanted: NonNullable<AnalyticsQuery['time_range']>, issues: Issue[]): TimeRange {
  const startMs = utcUnlessSaidMs(wanted.start);
  const endMs = utcUnlessSaidMs(wanted.end);
  if (startMs === undefined || endMs === undefined) {
    if (startMs === undefined) issues.push({ path: 'time_range.start', message: problemOf(wanted.start) });
    if (endMs === undefined) issues.push({ path: 'time_range.end', message: problemOf(wanted.end) });
    return NO_RANGE;
  }
  if (startMs >= endMs) issues.push({ path: 'time_range', message: 'start must be before end' });
  return { startMs, endMs };
}

/** Numbers of buckets, which grow by one with each. */
const BUCKET_NUMBERS: Readonly<Record<Granularity, (ms: number) => number>> = {
  minute: (ms) => Math.floor(ms / MINUTE_MS),
  hour: (ms) => Math.floor(ms / HOUR_MS),
  day: (ms) => windowsAt(ms).daily,
  week: (ms) => windowsAt(ms).weekly,
  month: (ms) => windowsAt(ms).monthly,
};

/** How many time buckets a range touches. */
export function bucketsIn({ startMs, endMs }: TimeRange, granularity: Granularity): number {
  const numberAt = BUCKET_NUMBERS[granularity];
  return numberAt(endMs - 1) - numberAt(startMs) + 1;
}

/** What is wrong with a timestamp that cannot be read: its form, or that no calendar has it. */
function problemOf(text: string): string {
  return /^\d{4}-\d\d-\d\d(?:T\d\d:|$)/.test(text)
    ? 'is no moment of the calendar'
    : 'must be an ISO 8601 timestamp such as 2030-01-31T12:00:00Z, 2030-01-31T12:00+02:00 or 2030-01-31';
}
