const WHOLE = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

const UNITS: readonly (readonly [from: number, per: number, unit: string])[] = [
  [10_000_000_000_000, 1_000_000_000_000, ' T'],
  [1_000_000_000, 1_000_000_000, ' B'],
  [10_000_000, 1_000_000, ' M'],
];

/** A count: 184,902; from ten million on 12.3 M, 1.92 B. */
export function count(value: number): string {
  const unit = UNITS.find(([from]) => value >= from);
  if (unit === undefined) return WHOLE.format(value);
  const scaled = value / unit[1];
  return `${scaled.toFixed(scaled < 10 ? 2 : scaled < 100 ? 1 : 0)}${unit[2]}`;
}

/** A count with its noun: 1 key, 2 keys. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** The size of a context: 1,049 K. */
export function contextSize(tokens: number): string {
  return tokens < 1_000 ? WHOLE.format(tokens) : `${WHOLE.format(Math.round(tokens / 1_000))} K`;
}

/** A share of one, in per cent: 71.8 %. What is not nothing or all is not written so: <0.1 %, >99.9 %. */
export function percent(share: number, places = 1): string {
  if (share === 0 || share === 1) return `${share * 100} %`;
  const least = 10 ** -places;
  if (share > 0 && share * 100 < least / 2) return `<${least} %`;
  if (share < 1 && 100 - share * 100 <= least / 2) return `>${100 - least} %`;
  return `${(share * 100).toFixed(places)} %`;
}

/** Fewer than this say nothing in tenths of a per cent. */
export const ENOUGH_FOR_TENTHS = 100;

/** A part of a number of things, in per cent: 11.4 % of hundreds, 22 % of nine. */
export function percentOf(part: number, whole: number): string {
  return percent(whole === 0 ? 0 : part / whole, whole < ENOUGH_FOR_TENTHS ? 0 : 1);
}

/** How much of a limit is used: 93 %, and 99.6 % until it is full. Rounded down. */
export function usedPercent(share: number): string {
  if (share >= 1) return '100 %';
  const scale = share >= 0.99 ? 1_000 : 100;
  return `${Math.floor(share * scale + 1e-9) / (scale / 100)} %`;
}

/** A change against the period before: +9.0 %, −1.7 %; – where there was nothing before. */
export function change(now: number, before: number): string {
  if (before === 0) return now === 0 ? '0 %' : '–';
  return signed(((now - before) / before) * 100, ' %');
}

/** A change of a share, in points: +2.9 pt. */
export function pointChange(now: number, before: number): string {
  return signed((now - before) * 100, ' pt');
}

function signed(value: number, unit: string): string {
  const text = Math.abs(value).toFixed(1);
  if (text === '0.0') return `0${unit}`;
  return `${value < 0 ? '−' : '+'}${text}${unit}`;
}

const SIZES = ['B', 'KB', 'MB', 'GB', 'TB'];

/** Bytes: 812 B, 1.4 MB. */
export function bytes(value: number): string {
  const step = Math.min(SIZES.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3));
  const scaled = value / 1_000 ** step;
  return `${step === 0 ? scaled : scaled.toFixed(scaled < 10 ? 1 : 0)} ${SIZES[step]}`;
}

/** All digits without an exponent; numbers below a millionth to nine places. */
export function plainNumber(value: number): string {
  const text = String(value);
  return text.includes('e-') ? value.toFixed(9).replace(/\.?0+$/, '') : text;
}
