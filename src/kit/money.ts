/** Money inside the gateway: whole nano-dollars (10^-9 USD). */
export type Nanos = bigint;

/** An exact price: an integer count of 10^-18 USD for one unit (a token, a request, an image). */
export type Price = bigint;

const PRICE_DECIMALS = 18;
const NANO_DECIMALS = 9;
const PRICE_UNITS_PER_NANO = 10n ** BigInt(PRICE_DECIMALS - NANO_DECIMALS);
const NANOS_PER_USD = 10 ** NANO_DECIMALS;
const MAX_EXACT_NANOS = BigInt(Number.MAX_SAFE_INTEGER);
const HALF_NANO = PRICE_UNITS_PER_NANO / 2n;
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
  for (const [count, price] of lines) sum += costOf(count, price);
  return toNanos(sum);
}

/** `count x price`, exactly. Most lines of a bill come to nothing, and sums of bigints are slow. */
export function costOf(count: number, price: Price): Price {
  return count === 0 || price === 0n ? 0n : BigInt(count) * price;
}

/** Rounds a sum half up. */
export function toNanos(sum: Price): Nanos {
  return sum === 0n ? 0n : (sum + HALF_NANO) / PRICE_UNITS_PER_NANO;
}

/** What rounding took off a sum; negative if it added. */
export function restOf(sum: Price, rounded: Nanos): Price {
  return sum - rounded * PRICE_UNITS_PER_NANO;
}

/** Rounds rests of two roundings, less than a nano-dollar together, half up. */
export function restToNanos(rests: Price): Nanos {
  if (rests >= HALF_NANO) return 1n;
  return rests < -HALF_NANO ? -1n : 0n;
}

/** Rounds a sum up: for reservations, which must cover the sum however it is rounded later. */
export function toNanosUp(sum: Price): Nanos {
  return (sum + PRICE_UNITS_PER_NANO - 1n) / PRICE_UNITS_PER_NANO;
}

/** How many units at `price` the money pays for after `first`; -1 if it does not cover `first`. */
export function countWithin(nanos: Nanos, first: Price, price: Price): number {
  const left = nanos * PRICE_UNITS_PER_NANO - first;
  if (left < 0n) return -1;
  return price === 0n ? Number.POSITIVE_INFINITY : Number(left / price);
}

/** Upper bound of grants and limits, USD. In nano-dollars it fits every engine's whole numbers. */
export const MAX_USD = 1_000_000_000;

export const MAX_NANOS: Nanos = BigInt(MAX_USD) * BigInt(NANOS_PER_USD);

/** An amount in USD, as JSON has it, in nano-dollars; what is finer is rounded half up. Of 0 to MAX_USD. */
export function nanosOf(usd: number): Nanos {
  if (!(usd >= 0 && usd <= MAX_USD)) throw new RangeError(`not an amount in USD: ${usd}`);
  // The shortest decimal of the number, not its binary fraction.
  return parseUsd(String(usd)) ?? BigInt(Math.round(usd * 1e9));
}

/** Reads an amount in USD as typed by an operator, such as `12.5`; undefined for anything but 0 to MAX_USD. */
export function parseUsd(text: string): Nanos | undefined {
  const price = parsePrice(text);
  if (price === undefined || price > BigInt(MAX_USD) * 10n ** BigInt(PRICE_DECIMALS)) return undefined;
  return chargeOf([[1, price]]);
}

export function usdOf(nanos: Nanos): number {
  // Both are exact, so their quotient is the number nearest to the amount, as that of its decimal digits is.
  if (nanos <= MAX_EXACT_NANOS && nanos >= -MAX_EXACT_NANOS) return Number(nanos) / NANOS_PER_USD;
  return Number(formatUsd(nanos));
}

/** Writes an amount in USD as the shortest decimal string. */
export function formatUsd(nanos: Nanos): string {
  return formatDecimal(nanos, NANO_DECIMALS);
}

function formatDecimal(value: bigint, decimals: number): string {
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, -decimals);
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
