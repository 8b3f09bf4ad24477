/** Money inside the gateway: whole nano-dollars (10^-9 USD). */
export type Nanos = bigint;

/** An exact price: an integer count of 10^-18 USD for one unit (a token, a request, an image). */
export type Price = bigint;

const PRICE_DECIMALS = 18;
const NANO_DECIMALS = 9;
const PRICE_UNITS_PER_NANO = 10n ** BigInt(PRICE_DECIMALS - NANO_DECIMALS);
const DECIMAL = /^(\d{1,12})(?:\.(\d{1,18}))?$/;

/** Reads a non-negative decimal string such as `0.000001`; undefined when it is none or finer than 10^-18. */
export function parsePrice(text: string): Price | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  return BigInt((match[1] as string) + (match[2] ?? '').padEnd(PRICE_DECIMALS, '0'));
}

/** Writes a price as the shortest decimal string. */
export function formatPrice(price: Price): string {
  return formatDecimal(price, PRICE_DECIMALS);
}

/** Sums `count x price` exactly and rounds once, half up, to nano-dollars. */
export function chargeOf(lines: readonly (readonly [count: number, price: Price])[]): Nanos {
  let sum = 0n;
  for (const [count, price] of lines) sum += BigInt(count) * price;
  return (sum + PRICE_UNITS_PER_NANO / 2n) / PRICE_UNITS_PER_NANO;
}

/** The JSON number that is written for an amount, in USD. */
export function usdOf(nanos: Nanos): number {
  return Number(formatDecimal(nanos, NANO_DECIMALS));
}

function formatDecimal(value: bigint, decimals: number): string {
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, -decimals);
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
