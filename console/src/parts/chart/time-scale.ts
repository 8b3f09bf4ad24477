import type { Granularity } from '../../api/contract.ts';
import { timeTicks } from './time-ticks.ts';

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

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hour12: false });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const DAY_UTC = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const MONTH_UTC = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' });

/** A bucket's length in a title. Days and longer begin at midnight UTC, whatever the reader's zone. */
export function bucketName(granularity: Granularity): string {
  return granularity === 'minute' || granularity === 'hour' ? granularity : `${granularity} (UTC)`;
}

/** What stands below a bucket of days or longer: the day or month of UTC that it is or begins with. */
function dateText(startMs: number, granularity: Granularity): string {
  return granularity === 'month' ? MONTH_UTC.format(startMs) : DAY_UTC.format(startMs);
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
const LABEL_PIXELS = 56;

/** How many texts fit below a chart of some width; null = unknown. */
export function labelsWithin(pixels: number | null): number {
  if (pixels === null) return MOST_LABELS;
  return Math.max(1, Math.min(MOST_LABELS, Math.floor(pixels / LABEL_PIXELS)));
}

/** A text below a chart, and where it begins, as a share of the width. */
export interface TimeLabel {
  readonly place: number;
  readonly text: string;
}

/** The texts below buckets, at most `most`: at round times of the reader's clock, or below every so many dates. */
export function labelsOf(starts: readonly number[], granularity: Granularity, most: number): TimeLabel[] {
  const [first, last] = [starts[0], starts.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (granularity === 'minute' || granularity === 'hour') {
    const endMs = nextBucket(last, granularity);
    const { ticks, text } = timeTicks(first, endMs, most);
    return ticks.map((ms) => ({ place: (ms - first) / (endMs - first), text: text(ms) }));
  }
  const step = Math.max(1, Math.ceil(starts.length / most));
  return starts.flatMap((startMs, bucket) => {
    const isLabelled = bucket % step === 0 && (bucket === 0 || starts.length - bucket >= step / 2);
    return isLabelled ? [{ place: bucket / starts.length, text: dateText(startMs, granularity) }] : [];
  });
}
