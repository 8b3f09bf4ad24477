/** The windows that begin anew. All are of UTC; weeks begin on Monday. */
export const RESET_WINDOWS = ['daily', 'weekly', 'monthly'] as const;

export type ResetWindow = (typeof RESET_WINDOWS)[number];

/** What a limit is counted over: a window that begins anew, or everything. */
export const LIMIT_WINDOWS = [...RESET_WINDOWS, 'lifetime'] as const;

export type LimitWindow = (typeof LIMIT_WINDOWS)[number];

/** A moment as the windows around it: whole numbers that grow by one with each window. */
export type WindowNumbers = Readonly<Record<ResetWindow, number>>;

/** From the first millisecond of a window to the first of the next one, epoch milliseconds. */
export interface WindowBounds {
  readonly startMs: number;
  readonly endMs: number;
}

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

/** 1970 began on a Thursday, so many days into its week. */
const DAYS_INTO_FIRST_WEEK = 3;

interface Calendar {
  readonly numberAt: (ms: number) => number;
  readonly startMs: (number: number) => number;
}

const CALENDARS: Readonly<Record<ResetWindow, Calendar>> = {
  daily: {
    numberAt: (ms) => Math.floor(ms / DAY_MS),
    startMs: (day) => day * DAY_MS,
  },
  weekly: {
    numberAt: (ms) => Math.floor((ms / DAY_MS + DAYS_INTO_FIRST_WEEK) / WEEK_DAYS),
    startMs: (week) => (week * WEEK_DAYS - DAYS_INTO_FIRST_WEEK) * DAY_MS,
  },
  monthly: {
    numberAt: (ms) => {
      const date = new Date(ms);
      return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
    },
    startMs: (month) => Date.UTC(1970, month),
  },
};

/** The windows around a moment (epoch milliseconds). `known` are those of another one, given back if they are the same. */
export function windowsAt(ms: number, known?: WindowNumbers): WindowNumbers {
  const daily = CALENDARS.daily.numberAt(ms);
  if (known?.daily === daily) return known;
  return { daily, weekly: CALENDARS.weekly.numberAt(ms), monthly: CALENDARS.monthly.numberAt(ms) };
}

/** Where the window around a moment begins, and where the next one does: that is the next reset. */
export function boundsAt(window: ResetWindow, ms: number): WindowBounds {
  const { numberAt, startMs } = CALENDARS[window];
  const number = numberAt(ms);
  return { startMs: startMs(number), endMs: startMs(number + 1) };
}

/**
 * Whether a window is over at a moment that is in window `at`. A moment before it counts into it: a clock that was set back, or
 * that of another machine, never begins a window anew, so that what was used up stays used up.
 */
export function isOver(window: number, at: number): boolean {
  return at > window;
}
