const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** As long as a month can be: more ticks never fit than `most`. */
const MONTH_MS = 31 * DAY_MS;

type Unit = 'minute' | 'day' | 'month';

/** Steps between moments that a clock or a calendar shows as round. */
const STEPS: readonly (readonly [unit: Unit, by: number, ms: number])[] = [
  ...[1, 2, 5, 10, 15, 30].map((by) => ['minute', by, by * MINUTE_MS] as const),
  ...[1, 2, 3, 6, 12].map((by) => ['minute', by * 60, by * HOUR_MS] as const),
  ...[1, 2, 7, 14].map((by) => ['day', by, by * DAY_MS] as const),
  ...[1, 3, 6, 12].map((by) => ['month', by, by * MONTH_MS] as const),
];

/** Round moments of a range in the reader's zone, with what stands at them. */
export interface TimeTicks {
  readonly ticks: readonly number[];
  readonly text: (ms: number) => string;
}

/** At most `most` round moments of a range; none where a text would run out of its end. */
export function timeTicks(fromMs: number, toMs: number, most: number): TimeTicks {
  const span = toMs - fromMs;
  const last = STEPS.at(-1) as (typeof STEPS)[number];
  const [unit, by] = STEPS.find(([, , ms]) => span / ms <= most) ?? last;
  const room = span / most / 2;
  const ticks = MOMENTS[unit](fromMs, toMs, by).filter((ms) => ms >= fromMs && ms <= toMs - room);
  return { ticks, text: TEXTS[unit] };
}

/** Moments of a step that may lie in a range. Dates are made of their parts: some days have 23 or 25 hours. */
const MOMENTS: Readonly<Record<Unit, (fromMs: number, toMs: number, by: number) => number[]>> = {
  minute: (fromMs, toMs, by) => {
    const from = new Date(fromMs);
    const first = Math.floor((from.getHours() * 60 + from.getMinutes()) / by) * by;
    const count = Math.ceil((toMs - fromMs) / (by * MINUTE_MS)) + 2;
    return Array.from({ length: count }, (_, index) =>
      new Date(from.getFullYear(), from.getMonth(), from.getDate(), 0, first + index * by).getTime(),
    );
  },
  day: (fromMs, toMs, by) => {
    const from = new Date(fromMs);
    // Weeks begin on Monday.
    const first = by >= 7 ? from.getDate() - ((from.getDay() + 6) % 7) : from.getDate();
    const count = Math.ceil((toMs - fromMs) / (by * DAY_MS)) + 2;
    return Array.from({ length: count }, (_, index) =>
      new Date(from.getFullYear(), from.getMonth(), first + index * by).getTime(),
    );
  },
  month: (fromMs, toMs, by) => {
    const from = new Date(fromMs);
    const first = Math.floor(from.getMonth() / by) * by;
    const count = Math.ceil((toMs - fromMs) / (by * 28 * DAY_MS)) + 2;
    return Array.from({ length: count }, (_, index) =>
      new Date(from.getFullYear(), first + index * by, 1).getTime(),
    );
  },
};

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hour12: false });
const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric' });

const TEXTS: Readonly<Record<Unit, (ms: number) => string>> = {
  minute: (ms) => {
    const date = new Date(ms);
    return date.getHours() === 0 && date.getMinutes() === 0 ? WEEKDAY.format(date) : CLOCK.format(date);
  },
  day: (ms) => DAY.format(ms),
  month: (ms) => MONTH.format(ms),
};
