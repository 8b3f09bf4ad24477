import type { Granularity } from '../../api/contract.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Begin of the bucket of a moment. Buckets are of UTC, as the gateway's; weeks begin on Monday. */
const STARTS: Readonly<Record<Granularity, (ms: number) => number>> = {
  minute: (ms) => ms - (ms % MINUTE_MS),
  hour: (ms) => ms - (ms % HOUR_MS),
  day: (ms) => ms - (ms % DAY_MS),
  week: (ms) => {
    const day = ms - (ms % DAY_MS);
    return day - ((new Date(day).getUTCDay() + 6) % 7) * DAY_MS;
  },
  month: (ms) => Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth()),
};

const NEXT: Readonly<Record<Granularity, (startMs: number) => number>> = {
  minute: (ms) => ms + MINUTE_MS,
  hour: (ms) => ms + HOUR_MS,
  day: (ms) => ms + DAY_MS,
  week: (ms) => ms + 7 * DAY_MS,
  month: (ms) => Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth() + 1),
};

/** Begin of the bucket that a moment is in. */
export function bucketStart(ms: number, granularity: Granularity): number {
  return STARTS[granularity](ms);
}

/** Begin of the bucket after one. */
export function nextBucket(startMs: number, granularity: Granularity): number {
  return NEXT[granularity](startMs);
}

/** More buckets than any chart has room for. */
const MAX_BUCKETS = 2_000;

/** Begins of all buckets that a range overlaps. */
export function bucketStarts(fromMs: number, toMs: number, granularity: Granularity): number[] {
  const starts: number[] = [];
  for (let ms = bucketStart(fromMs, granularity); ms < toMs && starts.length < MAX_BUCKETS; ) {
    starts.push(ms);
    ms = nextBucket(ms, granularity);
  }
  return starts;
}

/** Their halves and quarters, which stand at the grid lines, are round too. */
const STEPS = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10];

/** The least round number that is not below a value; 1 for nothing. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  // Divisions of decimals leave crumbs.
  const step = STEPS.find((each) => each >= value / power - 1e-9) ?? 10;
  return step * power;
}

/** Grid lines from the top of the scale to 0. */
export function gridValues(max: number, lines: number): number[] {
  return Array.from({ length: lines }, (_, index) => (max * (lines - 1 - index)) / (lines - 1));
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hour12: false });
const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const DAY_UTC = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const MONTH_UTC = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' });

/** A bucket's length in a title. Days and longer begin at midnight UTC, whatever the reader's zone. */
export function bucketName(granularity: Granularity): string {
  return granularity === 'minute' || granularity === 'hour' ? granularity : `${granularity} (UTC)`;
}

/** What stands below a bucket: a time in the reader's zone, or the day of UTC that it is or begins with. */
export function axisText(startMs: number, granularity: Granularity): string {
  if (granularity === 'month') return MONTH_UTC.format(startMs);
  if (granularity === 'day' || granularity === 'week') return DAY_UTC.format(startMs);
  const date = new Date(startMs);
  return date.getHours() === 0 && date.getMinutes() === 0 ? WEEKDAY.format(date) : CLOCK.format(date);
}

/** A bucket in words: `2 Nov, 17:00 – 18:00`, `2 Nov, UTC`. */
export function bucketText(startMs: number, granularity: Granularity): string {
  if (granularity === 'month') return MONTH_UTC.format(startMs);
  const end = nextBucket(startMs, granularity);
  if (granularity === 'day') return `${DAY_UTC.format(startMs)}, UTC`;
  if (granularity === 'week') return `${DAY_UTC.format(startMs)} – ${DAY_UTC.format(end - 1)}, UTC`;
  return `${DAY.format(startMs)}, ${CLOCK.format(startMs)} – ${CLOCK.format(end)}`;
}

const MOST_LABELS = 8;
/** Room for the longest text of an axis, `Nov 2026`. */
const LABEL_PIXELS = 64;

/** How many texts fit below a chart of some width; null = unknown. */
export function labelsWithin(pixels: number | null): number {
  if (pixels === null) return MOST_LABELS;
  return Math.max(1, Math.min(MOST_LABELS, Math.floor(pixels / LABEL_PIXELS)));
}

/** Indexes of the buckets that have a text below: at most `most`, evenly spaced, none without room at the end. */
export function labelledBuckets(count: number, most: number): number[] {
  const step = Math.max(1, Math.ceil(count / most));
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step).filter(
    (bucket) => bucket === 0 || count - bucket >= step / 2,
  );
}
