/** A range of time in the words of the address: `-24h`, `yesterday`, `2026-11-03T14:00`; `to` may be `now`. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** The same as moments: the first millisecond, and the one after the last. */
export interface Moments {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A range with a name. */
export interface Preset extends Range {
  readonly label: string;
}

export const PRESETS: readonly Preset[] = [
  { label: 'Last hour', from: '-1h', to: 'now' },
  { label: 'Last 24 hours', from: '-24h', to: 'now' },
  { label: 'Today', from: 'today', to: 'now' },
  { label: 'Yesterday', from: 'yesterday', to: 'today' },
  { label: 'Last 7 days', from: '-7d', to: 'now' },
  { label: 'Last 30 days', from: '-30d', to: 'now' },
  { label: 'This month', from: 'this month', to: 'now' },
  { label: 'Last month', from: 'last month', to: 'this month' },
];

export const LAST_24_HOURS: Range = { from: '-24h', to: 'now' };

/** The preset of a range; undefined = it has no name. */
export function presetOf({ from, to }: Range): Preset | undefined {
  return PRESETS.find((preset) => preset.from === from && preset.to === to);
}

/** The range that a query of the address names. What cannot be read counts as the fallback. */
export function rangeOf(query: URLSearchParams, fallback: Range = LAST_24_HOURS): Range {
  const from = query.get('from');
  if (from === null) return fallback;
  const range = { from, to: query.get('to') ?? 'now' };
  return momentsOf(range, Date.now()) === null ? fallback : range;
}

/** The parameters of the address for a range. */
export function parametersOf({ from, to }: Range): { readonly from: string; readonly to: string | null } {
  return { from, to: to === 'now' ? null : to };
}

/** The moments of a range; null = it cannot be read, or ends before it begins. */
export function momentsOf({ from, to }: Range, nowMs: number): Moments | null {
  const fromMs = momentOf(from, nowMs);
  const toMs = momentOf(to, nowMs);
  return fromMs === null || toMs === null || fromMs >= toMs ? null : { fromMs, toMs };
}

/** The moments of a range that was read from the address. */
export function knownMomentsOf(range: Range, nowMs: number): Moments {
  return momentsOf(range, nowMs) ?? { fromMs: nowMs - 24 * UNITS.h, toMs: nowMs };
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const DAYS: Readonly<Record<string, (now: Date) => Date>> = {
  today: (now) => new Date(now.getFullYear(), now.getMonth(), now.getDate()),
  yesterday: (now) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1),
  'this month': (now) => new Date(now.getFullYear(), now.getMonth(), 1),
  'last month': (now) => new Date(now.getFullYear(), now.getMonth() - 1, 1),
};

/** A moment in words, in the reader's zone; null = it cannot be read. */
export function momentOf(words: string, nowMs: number): number | null {
  const text = words.trim().toLowerCase();
  if (text === 'now') return nowMs;
  const ago = /^-\s*(\d{1,6})\s*([mhdw])$/.exec(text);
  if (ago !== null) return nowMs - Number(ago[1]) * UNITS[ago[2] as keyof typeof UNITS];
  const timed = /^(.*?),?\s+(\d{1,2}):(\d{2})$/.exec(text);
  const day = dayOf(timed?.[1] ?? text, nowMs);
  if (day !== null) return timed === null ? day.getTime() : atTime(day, Number(timed[2]), Number(timed[3]));
  const moment = Date.parse(words.trim());
  return Number.isNaN(moment) || !/^\d{4}-\d{2}-\d{2}t/i.test(text) ? null : moment;
}

function atTime(day: Date, hours: number, minutes: number): number | null {
  if (hours > 24 || minutes > 59) return null;
  return new Date(day.getFullYear(), day.getMonth(), day.getDate(), hours, minutes).getTime();
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** A day: `today`, `2 Nov`, `2 Nov 2026`, `2026-11-02`. A day without a year is the last such day. */
function dayOf(text: string, nowMs: number): Date | null {
  const now = new Date(nowMs);
  const named = DAYS[text];
  if (named !== undefined) return named(now);
  const written = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (written !== null) return calendarDay(Number(written[1]), Number(written[2]) - 1, Number(written[3]));
  const spoken = /^(\d{1,2})\s+([a-z]{3})[a-z]*\.?(?:\s+(\d{4}))?$/.exec(text);
  const month = MONTHS.indexOf(spoken?.[2] ?? '');
  if (spoken === null || month === -1) return null;
  if (spoken[3] !== undefined) return calendarDay(Number(spoken[3]), month, Number(spoken[1]));
  const thisYear = calendarDay(now.getFullYear(), month, Number(spoken[1]));
  return thisYear !== null && thisYear.getTime() <= nowMs
    ? thisYear
    : calendarDay(now.getFullYear() - 1, month, Number(spoken[1]));
}

/** Null for a day that no calendar has. */
function calendarDay(year: number, month: number, day: number): Date | null {
  const date = new Date(year, month, day);
  return date.getMonth() === month && date.getDate() === day ? date : null;
}

/** The period of the same length just before. */
export function periodBefore({ fromMs, toMs }: Moments): Moments {
  return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}
