/** One of those who are drawn from, with its chance of being the first. */
export interface Share<T> {
  readonly entry: T;
  /** 0..1; undefined = it takes no part. */
  readonly weight: number | undefined;
}

/**
 * Draws who is the first, with a weight of 1/price^2; the others follow as they stand, which is cheaper first. Whoever is
 * free comes before everybody else, drawn evenly. Where only one could be drawn there is no draw.
 */
export function drawFirst<T>(
  entries: readonly T[],
  priceOf: (entry: T) => number,
  random: () => number,
): Share<T>[] {
  const free = entries.filter((entry) => priceOf(entry) === 0);
  const drawn = free.length > 0 ? free : entries;
  const others = free.length > 0 ? entries.slice(free.length) : [];
  const shares = [...weighted(drawn, priceOf), ...others.map((entry) => ({ entry, weight: undefined }))];
  if (drawn.length < 2) return shares;
  const first = indexAt(shares, random());
  return [...shares.splice(first, 1), ...shares];
}

function weighted<T>(drawn: readonly T[], priceOf: (entry: T) => number): Share<T>[] {
  const [cheapest] = drawn;
  if (drawn.length < 2 || cheapest === undefined) return drawn.map((entry) => ({ entry, weight: undefined }));
  // In terms of the cheapest: squares of prices would be large numbers.
  const weightOf = (entry: T) => (priceOf(entry) === 0 ? 1 : (priceOf(cheapest) / priceOf(entry)) ** 2);
  const sum = drawn.reduce((total, entry) => total + weightOf(entry), 0);
  return drawn.map((entry) => ({ entry, weight: weightOf(entry) / sum }));
}

/** Who is at a point of 0..1 when all shares are laid side by side. */
function indexAt(shares: readonly Share<unknown>[], point: number): number {
  let end = 0;
  for (const [index, { weight = 0 }] of shares.entries()) {
    end += weight;
    if (point < end) return index;
  }
  return 0;
}
