/** The time that a limit counts over. */
export type LimitWindow = 'daily' | 'weekly' | 'monthly' | 'lifetime';

export const LIMIT_WINDOWS: readonly LimitWindow[] = ['daily', 'weekly', 'monthly', 'lifetime'];

/** Behind an amount: $25 a day. */
export const PER_WINDOW: Readonly<Record<LimitWindow, string>> = {
  daily: 'a day',
  weekly: 'a week',
  monthly: 'a month',
  lifetime: 'in all',
};

/** How windows are counted: "in a calendar month (UTC)". */
export const WITHIN_WINDOW: Readonly<Record<LimitWindow, string>> = {
  daily: 'on a day (UTC)',
  weekly: 'in a week from Monday (UTC)',
  monthly: 'in a calendar month (UTC)',
  lifetime: 'ever',
};

/** When the window of a moment ends and its limit resets; null = never. Windows begin at midnight UTC. */
export function nextReset(window: LimitWindow, nowMs: number): number | null {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const daysSinceMonday = (now.getUTCDay() + 6) % 7;
  switch (window) {
    case 'daily':
      return Date.UTC(year, month, day + 1);
    case 'weekly':
      return Date.UTC(year, month, day - daysSinceMonday + 7);
    case 'monthly':
      return Date.UTC(year, month + 1);
    case 'lifetime':
      return null;
  }
}
