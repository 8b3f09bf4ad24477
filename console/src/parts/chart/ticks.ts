/** Factors of a power of ten that a step between ticks may have. */
const FACTORS = [1, 2, 2.5, 5, 10];

/** Divisions of decimals leave crumbs. */
const CRUMB = 1e-9;

/** The least round step that is not below a number. */
export function roundStep(least: number): number {
  if (least <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = FACTORS.find((each) => each >= least / power - CRUMB) ?? 10;
  return factor * power;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Steps of durations from ten seconds on, where tens are no longer round. */
const LONG_STEPS = [
  10 * SECOND_MS,
  15 * SECOND_MS,
  30 * SECOND_MS,
  MINUTE_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
];

/** The same of a duration in milliseconds. */
export function roundDuration(leastMs: number): number {
  if (leastMs <= 5 * SECOND_MS) return roundStep(leastMs);
  return LONG_STEPS.find((step) => step >= leastMs - CRUMB) ?? roundStep(leastMs / HOUR_MS) * HOUR_MS;
}

/** Ticks from 0 to the first one that is not below `max`, at most `most` steps. */
export function ticksUpTo(max: number, most: number, round: (least: number) => number): number[] {
  const top = max <= 0 ? 1 : max;
  const step = round(top / most);
  const count = Math.max(1, Math.ceil(top / step - CRUMB));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Ticks from 0 that are not above `end`. */
export function ticksWithin(end: number, most: number, round: (least: number) => number): number[] {
  const step = round(end / most);
  return Array.from({ length: Math.floor(end / step + CRUMB) + 1 }, (_, index) => index * step);
}
