/** The windows after which a limit resets, in UTC; weeks begin on Monday. */
export const RESET_WINDOWS = ['daily', 'weekly', 'monthly'] as const;

export type ResetWindow = (typeof RESET_WINDOWS)[number];

/** The time that a limit counts over: a window after which it resets, or all time. */
export const LIMIT_WINDOWS = [...RESET_WINDOWS, 'lifetime'] as const;

export type LimitWindow = (typeof LIMIT_WINDOWS)[number];

/** The numbers of the windows that contain a time; they grow by one with each window. */
export type WindowNumbers = Readonly<Record<ResetWindow, number>>;

/** From the first millisecond of a window to the first of the next one, epoch milliseconds. */
export interface WindowBounds {
  readonly startMs: number;
  readonly endMs: number;
}

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

/** 1970 began on a Thursday: days since the Monday before. */
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

/** The windows that contain a time (epoch milliseconds). Returns `known` if they are the same. */
export function windowsAt(ms: number, known?: WindowNumbers): WindowNumbers {
  const daily = CALENDARS.daily.numberAt(ms);
  if (known?.daily === daily) return known;
  return { daily, weekly: CALENDARS.weekly.numberAt(ms), monthly: CALENDARS.monthly.numberAt(ms) };
}

/** Start of the window that contains a time, and start of the next one, which is the next reset. */
export function boundsAt(window: ResetWindow, ms: number): WindowBounds {
  const { numberAt, startMs } = CALENDARS[window];
  const number = numberAt(ms);
  return { startMs: startMs(number), endMs: startMs(number + 1) };
}

/**
 * Whether a window is over at a time in window `at`. False also for an earlier time: a clock that was set back, or
 * another machine's, must not start a window again and make spent limits available.
 */
export function isOver(window: number, at: number): boolean {
  return at > window;
}
