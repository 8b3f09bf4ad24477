const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration: 1.9 ms, 612 ms, 11.84 s, 2 m 04 s, 3 h 20 m. */
export function duration(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(2)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m ${two(Math.floor((ms % MINUTE) / SECOND))} s`;
  return ms < DAY
    ? `${Math.floor(ms / HOUR)} h ${two(Math.floor((ms % HOUR) / MINUTE))} m`
    : `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** A moment of a day in the reader's zone: 14:59:57.902. */
export function clockTime(ms: number): string {
  const date = new Date(ms);
  const thousandths = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${thousandths}`;
}

const DAY_NAME = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
const TO_THE_MINUTE = {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
} as const;
const DATE_TIME = new Intl.DateTimeFormat('en-GB', TO_THE_MINUTE);
const DATED_TIME = new Intl.DateTimeFormat('en-GB', { ...TO_THE_MINUTE, year: 'numeric' });
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** A day as a heading: Tuesday 3 November. */
export function dayName(ms: number): string {
  return DAY_NAME.format(ms).replace(',', '');
}

/** 3 Nov, 14:59, in the reader's zone; of another year 3 Nov 2025, 14:59. */
export function dateTime(ms: number, nowMs = Date.now()): string {
  const isThisYear = new Date(ms).getFullYear() === new Date(nowMs).getFullYear();
  return isThisYear ? DATE_TIME.format(ms) : datedTime(ms);
}

/** 3 Nov 2026, 14:59: for moments that may lie far ahead, such as the end of a key. */
export function datedTime(ms: number): string {
  return DATED_TIME.format(ms);
}

/** 3 Nov 2026. */
export function date(ms: number): string {
  return DATE.format(ms);
}

/** How long ago, or how far ahead: 4 minutes ago, in 3 hours. */
export function relative(ms: number, nowMs: number): string {
  const distance = ms - nowMs;
  const [unit, per] = RELATIVE_UNITS.find(([, size]) => Math.abs(distance) >= size) ?? ['second', SECOND];
  return RELATIVE.format(Math.round(distance / per), unit);
}

const RELATIVE = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' });
const RELATIVE_UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
];

/** The reader's zone, such as CET. */
export function zoneName(ms: number): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(ms);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
