/** Lengths of the window that can be chosen, days. */
export const DAY_CHOICES: readonly number[] = [7, 30, 90, 365];

const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

/** The days that an address asks for. */
export function daysOf(text: string | null): number {
  const days = Number(text);
  return DAY_CHOICES.includes(days) ? days : DEFAULT_DAYS;
}

/** First and last day, `YYYY-MM-DD`. */
interface Window {
  readonly start_date: string;
  readonly end_date: string;
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The window that ends today, as days of UTC. */
export function windowOf(days: number, nowMs: number): Window {
  return { start_date: dayText(nowMs - (days - 1) * DAY_MS), end_date: dayText(nowMs) };
}

interface ModelDay {
  readonly date: string;
  readonly model_permaslug: string;
  readonly total_tokens: string;
}

/** A model with the tokens of the whole window and of each of its periods. */
export interface RankedModel {
  readonly model: string;
  readonly tokens: number;
  readonly periods: readonly number[];
}

/** What one point of a course sums up. */
export type Period = 'day' | 'week';

/** The first days of all periods of a window. Weeks begin on Monday. */
export function periodsOf({ start_date: start, end_date: end }: Window, period: Period): readonly string[] {
  const startMs = Date.parse(start);
  const daysSinceMonday = (new Date(startMs).getUTCDay() + 6) % 7;
  const firstMs = period === 'day' ? startMs : startMs - daysSinceMonday * DAY_MS;
  const stepMs = period === 'day' ? DAY_MS : 7 * DAY_MS;
  const count = Math.floor((Date.parse(end) - firstMs) / stepMs) + 1;
  return Array.from({ length: count }, (_, index) => dayText(firstMs + index * stepMs));
}

/** Models by their tokens in all periods together; `other` comes last. */
export function rankModels(rows: readonly ModelDay[], dates: readonly string[]): readonly RankedModel[] {
  const byModel = new Map<string, number[]>();
  for (const { date, model_permaslug: model, total_tokens: tokens } of rows) {
    const periods = byModel.get(model) ?? dates.map(() => 0);
    periods[dates.indexOf(date)] = Number(tokens);
    byModel.set(model, periods);
  }
  return [...byModel]
    .map(([model, periods]) => ({ model, periods, tokens: periods.reduce((sum, each) => sum + each, 0) }))
    .sort(
      (one, other) =>
        Number(one.model === 'other') - Number(other.model === 'other') || other.tokens - one.tokens,
    );
}

/** The points of a sparkline of 100 by 20. */
export function sparkPoints(values: readonly number[]): string {
  const most = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  return values
    .map((value, index) => `${(index * step).toFixed(1)},${(19.5 - (value / most) * 19).toFixed(1)}`)
    .join(' ');
}
