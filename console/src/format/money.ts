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

/** One amount of a column: always `places` places, so that the points align. What rounds to nothing is `<$0.01`. */
export function columnMoney(usd: number, places = 6): ShownMoney {
  const least = 10 ** -places;
  if (usd === 0 || Math.abs(usd) >= least / 2) {
    return shown(usd, (fraction) => fraction.slice(0, places), places);
  }
  const { main, below } = shown(least, (fraction) => fraction.slice(0, places), places);
  return { main: `${usd < 0 ? '−' : ''}<${main}`, below, exact: copiedMoney(usd) };
}

/**
 * The places that all amounts of a column are written with: the smallest one shows two digits, unless the column has
 * amounts so large that this would make them hard to read.
 */
export function placesOf(amounts: readonly number[]): number {
  const sizes = amounts.filter((usd) => usd !== 0).map(Math.abs);
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  const wanted = smallest >= 0.1 ? 2 : smallest >= 0.001 ? 4 : smallest >= 0.000_01 ? 6 : PLACES;
  const most = largest >= 1_000 ? 2 : largest >= 1 ? 4 : largest >= 0.001 ? 6 : PLACES;
  return Math.min(wanted, most);
}

/** Writes the amounts of a column, all with one number of places. */
export function moneyColumn(amounts: readonly number[]): (usd: number) => ShownMoney {
  const places = placesOf(amounts);
  return (usd) => columnMoney(usd, places);
}

/** The same of limits, which are mostly whole cents, and then have two places. */
export function limitColumn(amounts: readonly number[]): (usd: number) => string {
  const areCents = amounts.every((usd) => Math.abs(usd * 100 - Math.round(usd * 100)) < 1e-7);
  const places = areCents ? 2 : placesOf(amounts);
  return (usd) => (usd === 0 ? sumMoney(0) : moneyText(columnMoney(usd, places)));
}

/** An amount as one text. */
export function moneyText({ main, below }: ShownMoney): string {
  return `${main}${below}`;
}

/** A sum: two places. */
export function sumMoney(usd: number): string {
  return usd < 0 ? `−$${GROUPS.format(-usd)}` : `$${GROUPS.format(usd)}`;
}

/** A single sum that may be less than a cent, which is then shown with three digits: $12.50, $0.000336. */
export function shortMoney(usd: number): string {
  if (usd === 0 || Math.abs(usd) >= 0.01) return sumMoney(usd);
  const digits = Number(Math.abs(usd).toPrecision(3)).toFixed(PLACES).replace(/0+$/, '');
  return `${usd < 0 ? '−' : ''}$${digits}`;
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
