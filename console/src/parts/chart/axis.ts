import { roundDuration, roundStep } from './ticks.ts';

/** How an axis of values is divided, and what stands at its ticks: short, because a tip and a table have all digits. */
export interface Axis {
  /** The least round step that is not below a number. */
  readonly round: (least: number) => number;
  /** Texts at ticks that begin at 0, all with one number of decimals and one unit. */
  readonly texts: (ticks: readonly number[]) => readonly string[];
}

const UNITS: readonly (readonly [from: number, per: number, unit: string])[] = [
  [1e9, 1e9, ' B'],
  [1e6, 1e6, ' M'],
  [1e4, 1e3, ' K'],
];

export const RATE_AXIS: Axis = { round: roundStep, texts: (ticks) => inUnits(ticks) };

export const COUNT_AXIS: Axis = {
  round: (least) => Math.max(1, roundStep(least)),
  texts: (ticks) => inUnits(ticks),
};

export const MONEY_AXIS: Axis = {
  round: roundStep,
  // Tenths of a dollar are written as cents.
  texts: (ticks) => inUnits(ticks, (places) => (places === 1 ? 2 : places)).map((text) => `$${text}`),
};

export const PERCENT_AXIS: Axis = {
  round: roundStep,
  texts: (ticks) => inUnits(ticks.map((share) => share * 100)).map((text) => `${text} %`),
};

/** Milliseconds. */
export const DURATION_AXIS: Axis = {
  round: roundDuration,
  texts: (ticks) => {
    const [per, unit] = DURATION_UNITS.find(([, , most]) => (ticks.at(-1) ?? 0) <= most) ?? HOURS;
    const scaled = ticks.map((ms) => ms / per);
    return withPlaces(scaled, placesOf(scaled)).map((text) => (text === '0' ? '0' : `${text} ${unit}`));
  },
};

const HOURS = [3_600_000, 'h', Number.POSITIVE_INFINITY] as const;
const DURATION_UNITS: readonly (readonly [per: number, unit: string, most: number])[] = [
  [1, 'ms', 999],
  [1_000, 's', 119_999],
  [60_000, 'min', 7_199_999],
  HOURS,
];

function inUnits(ticks: readonly number[], places = (needed: number) => needed): readonly string[] {
  const [, per, unit] = UNITS.find(([from]) => (ticks.at(-1) ?? 0) >= from) ?? [0, 1, ''];
  const scaled = ticks.map((value) => value / per);
  const needed = placesOf(scaled);
  return withPlaces(scaled, per === 1 ? places(needed) : needed).map((text) =>
    text === '0' ? '0' : `${text}${unit}`,
  );
}

const MOST_PLACES = 9;

/** The decimals that the step between the ticks has. */
function placesOf([first = 0, second = first + 1]: readonly number[]): number {
  const [, fraction = ''] = (second - first).toFixed(MOST_PLACES).replace(/0+$/, '').split('.');
  return fraction.length;
}

function withPlaces(values: readonly number[], places: number): readonly string[] {
  const format = new Intl.NumberFormat('en-GB', {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  });
  return values.map((value) => (value === 0 ? '0' : format.format(value)));
}
