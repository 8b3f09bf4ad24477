/** The time that a limit counts over. */
export type LimitWindow = 'daily' | 'weekly' | 'monthly' | 'lifetime';

export const LIMIT_WINDOWS: readonly LimitWindow[] = ['daily', 'weekly', 'monthly', 'lifetime'];

/** Behind an amount: $25 a day. */
export const PER_WINDOW: Readonly<Record<LimitWindow, string>> = {
  daily: 'a day',
  weekly: 'a week',
  monthly: 'a month',
  lifetime: 'in total',
};

/** How windows are counted: "in a calendar month (UTC)". */
export const WITHIN_WINDOW: Readonly<Record<LimitWindow, string>> = {
  daily: 'on a day (UTC)',
  weekly: 'in a week from Monday (UTC)',
  monthly: 'in a calendar month (UTC)',
  lifetime: 'in total',
};

/** When the window of a moment began; 0 = the first moment of all. Windows begin at midnight UTC. */
export function windowStart(window: LimitWindow, nowMs: number): number {
  return boundOf(window, nowMs, 0) ?? 0;
}

/** When the window of a moment ends and its limit resets; null = never. */
export function nextReset(window: LimitWindow, nowMs: number): number | null {
  return boundOf(window, nowMs, 1);
}

/** The begin of the window that is `ahead` of that of a moment; null = windows never begin. */
function boundOf(window: LimitWindow, nowMs: number, ahead: 0 | 1): number | null {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const daysSinceMonday = (now.getUTCDay() + 6) % 7;
  switch (window) {
    case 'daily':
      return Date.UTC(year, month, day + ahead);
    case 'weekly':
      return Date.UTC(year, month, day - daysSinceMonday + 7 * ahead);
    case 'monthly':
      return Date.UTC(year, month + ahead);
    case 'lifetime':
      return null;
  }
}
