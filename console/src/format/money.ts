/** How an amount is written: the part that matters first, and the digits below a cent, which are shown quieter. */
export interface ShownMoney {
  /** Up to the cents, such as `$0.04`. */
  readonly main: string;
  /** Digits below a cent, such as `89688`; empty = none. */
  readonly below: string;
  /** All nine places, for copying. */
  readonly exact: string;
}

const GROUPS = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const PLACES = 9;

/** One generation: every digit that it has, at most nine. */
export function exactMoney(usd: number): ShownMoney {
  return shown(usd, (fraction) => fraction.replace(/0+$/, ''));
}

/** A column of amounts: always `places` places, so that the points align. */
export function columnMoney(usd: number, places = 6): ShownMoney {
  return shown(usd, (fraction) => fraction.slice(0, places), places);
}

/** A sum: two places. */
export function sumMoney(usd: number): string {
  return usd < 0 ? `−$${GROUPS.format(-usd)}` : `$${GROUPS.format(usd)}`;
}

/** A sum that may be less than a cent, which is then shown with three digits: $12.50, $0.000336. */
export function shortMoney(usd: number): string {
  if (usd === 0 || usd >= 0.01) return sumMoney(usd);
  return `$${Number(usd.toPrecision(3)).toFixed(PLACES).replace(/0+$/, '')}`;
}

/** Nine places, without groups: what is copied. */
export function copiedMoney(usd: number): string {
  return usd.toFixed(PLACES);
}

function shown(usd: number, cut: (fraction: string) => string, rounding = PLACES): ShownMoney {
  const exact = copiedMoney(usd);
  if (usd === 0) return { main: '$0', below: '', exact };
  const [whole = '0', fraction = ''] = Math.abs(usd).toFixed(rounding).split('.');
  const digits = cut(fraction.padEnd(PLACES, '0')).padEnd(2, '0');
  const main = `${usd < 0 ? '−' : ''}$${Number(whole).toLocaleString('en-GB')}.${digits.slice(0, 2)}`;
  return { main, below: digits.slice(2), exact };
}

/** A price per token as dollars per million tokens: 2.00, 0.075. */
export function pricePerMillion(usdPerToken: number): string {
  const price = usdPerToken * 1_000_000;
  const text = price.toFixed(6).replace(/0+$/, '');
  const places = text.split('.')[1]?.length ?? 0;
  return places < 2 ? price.toFixed(2) : text;
}
