import type { AnalyticsQuery } from '../../contract/analytics/analytics.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { countText } from '../../kit/text/count-text.ts';
import { utcUnlessSaidMs } from '../../kit/time/iso-moment.ts';
import { windowsAt } from '../../kit/time/windows.ts';
import type { Granularity } from '../../ports/events/event-names.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const DEFAULT_DAYS = 7;
const MAX_DAYS = 365;
const MAX_HOURS_BY_MINUTE = 3;

export interface RangeLimit {
  readonly longestMs: number;
  /** The limit in an error message. */
  readonly words: string;
}

/** Half-open: `endMs` is excluded. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

/** Limit of every range. */
export const WHOLE_LIMIT: RangeLimit = limitOfDays(MAX_DAYS);

export const MINUTE_LIMIT: RangeLimit = {
  longestMs: MAX_HOURS_BY_MINUTE * HOUR_MS,
  words: `${MAX_HOURS_BY_MINUTE} hours with granularity minute`,
};

/** A limit in days; `causes`: the names in the query that bring it about. */
export function limitOfDays(days: number, causes: readonly string[] = []): RangeLimit {
  const because = causes.length === 0 ? '' : ` with ${causes.join(', ')}`;
  return { longestMs: days * DAY_MS, words: `${countText(days, 'day')}${because}` };
}

/** The range of a query; default: the last 7 days. Problems are added to `issues`. */
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

const BUCKET_NUMBERS: Readonly<Record<Granularity, (ms: number) => number>> = {
  minute: (ms) => Math.floor(ms / MINUTE_MS),
  hour: (ms) => Math.floor(ms / HOUR_MS),
  day: (ms) => windowsAt(ms).daily,
  week: (ms) => windowsAt(ms).weekly,
  month: (ms) => windowsAt(ms).monthly,
};

export function bucketsIn({ startMs, endMs }: TimeRange, granularity: Granularity): number {
  const numberAt = BUCKET_NUMBERS[granularity];
  return numberAt(endMs - 1) - numberAt(startMs) + 1;
}

/** The problem of an unreadable timestamp: a date that does not exist, or a wrong format. */
function problemOf(text: string): string {
  return /^\d{4}-\d\d-\d\d(?:T\d\d:|$)/.test(text)
    ? 'is no moment of the calendar'
    : 'must be an ISO 8601 timestamp such as 2030-01-31T12:00:00Z, 2030-01-31T12:00+02:00 or 2030-01-31';
}
