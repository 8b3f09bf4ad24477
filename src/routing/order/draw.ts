/** An entry with its chance of being drawn first. */
export interface Share<T> {
  readonly entry: T;
  /** 0..1; undefined = not in the draw. */
  readonly weight: number | undefined;
}

/**
 * Draws the first entry with weight 1/price^2; the others keep their order, cheapest first. If there are free entries,
 * only those are drawn from, evenly. With fewer than two to draw from there is no draw.
 */
export function drawFirst<T>(
  entries: readonly T[],
  priceOf: (entry: T) => number,
  random: () => number,
): Share<T>[] {
  const free = entries.findIndex((entry) => priceOf(entry) > 0);
  const drawn = free > 0 ? free : entries.length;
  const shares = drawn < 2 ? entries.map(undrawn) : weighted(entries, drawn, priceOf);
  if (drawn < 2) return shares;
  const first = indexAt(shares, random());
  return first === 0 ? shares : [...shares.splice(first, 1), ...shares];
}

export function undrawn<T>(entry: T): Share<T> {
  return { entry, weight: undefined };
}

/** All entries; the first `drawn` have weights. */
function weighted<T>(entries: readonly T[], drawn: number, priceOf: (entry: T) => number): Share<T>[] {
  const weights: number[] = [];
  let cheapest = 0;
  let sum = 0;
  for (const entry of entries) {
    if (weights.length === drawn) break;
    const price = priceOf(entry);
    if (weights.length === 0) cheapest = price;
    // Relative to the cheapest: squares of prices would be large numbers.
    const weight = price === 0 ? 1 : (cheapest / price) ** 2;
    weights.push(weight);
    sum += weight;
  }
  return entries.map((entry, index) => {
    const weight = weights[index];
    return { entry, weight: weight === undefined ? undefined : weight / sum };
  });
}

/** Index of the share that contains a point of 0..1 of the cumulative weights. */
function indexAt(shares: readonly Share<unknown>[], point: number): number {
  let end = 0;
  let index = 0;
  for (const { weight = 0 } of shares) {
    end += weight;
    if (point < end) return index;
    index += 1;
  }
  return 0;
}
