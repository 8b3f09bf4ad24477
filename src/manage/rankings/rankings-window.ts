import { DATASET_START, type DatasetWindowQuery } from '../../contract/dataset-window.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { DayWindow } from '../../ports/events.ts';

const DAY_MS = 86_400_000;

/** Days between the first and the last of a window whose first is not given. */
const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;

const FIRST_MS = Date.parse(DATASET_START);

/** The days that a query means. Throws 400. */
export function rankingsWindow({ start_date, end_date }: DatasetWindowQuery, nowMs: number): DayWindow {
  const lastMs = end_date === undefined ? nowMs - (nowMs % DAY_MS) - DAY_MS : dayMs('end_date', end_date);
  if (lastMs < FIRST_MS) {
    throw refused('end_date', `must be on or after ${DATASET_START}, the first day of the dataset`);
  }
  const wantedMs =
    start_date === undefined ? lastMs - DEFAULT_DAYS * DAY_MS : dayMs('start_date', start_date);
  const startMs = Math.max(wantedMs, FIRST_MS);
  const endMs = lastMs + DAY_MS;
  if (startMs >= endMs) throw refused('start_date', 'must not be after end_date');
  if (endMs - startMs > MOST_DAYS * DAY_MS) {
    throw refused(
      'start_date',
      `must be such that the window, both ends included, has at most ${MOST_DAYS} days`,
    );
  }
  return { startMs, endMs };
}

/** A window and, as one, so many of its length right before it. What lies before the dataset is empty. */
export function withPreceding(window: DayWindow, count: number): DayWindow[] {
  if (count === 0) return [window];
  const { startMs, endMs } = window;
  return [window, { startMs: Math.max(startMs - count * (endMs - startMs), FIRST_MS), endMs: startMs }];
}

function dayMs(path: string, text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text)) {
    throw refused(path, `${text} is not in the calendar`);
  }
  return ms;
}

function refused(path: string, message: string) {
  return invalidRequest([{ path, message }]);
}
