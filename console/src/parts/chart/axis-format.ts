/** Numbers at grid lines: short, because a tip and a table have all digits. */

export function moneyAxis(usd: number): string {
  return usd === 0 ? '$0' : `$${short(usd)}`;
}

/** Nothing stands at a line between two whole numbers. */
export function countAxis(value: number): string {
  return Number.isInteger(value) ? short(value) : '';
}

export function rateAxis(value: number): string {
  return short(value);
}

export function durationAxis(ms: number): string {
  return ms === 0
    ? '0'
    : ms < 1_000
      ? `${Number(ms.toPrecision(3))} ms`
      : `${Number((ms / 1_000).toPrecision(3))} s`;
}

export function percentAxis(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`;
}

const UNITS: readonly (readonly [from: number, unit: string])[] = [
  [1e9, ' B'],
  [1e6, ' M'],
  [1e4, ' K'],
];

function short(value: number): string {
  const [from, unit] = UNITS.find(([least]) => value >= least) ?? [1, ''];
  const scaled = Number((value / (unit === ' K' ? 1_000 : from)).toPrecision(3));
  return `${scaled < 1e-4 && scaled > 0 ? scaled.toFixed(6).replace(/0+$/, '') : scaled}${unit}`;
}
