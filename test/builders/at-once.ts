import { runAtOnce, type Sliced } from '../../src/kit/loop/turns.ts';

/** A function whose work is done in slices, as one that does it at once. */
export function atOnce<Given extends unknown[], T>(
  work: (...given: Given) => Sliced<T>,
): (...given: Given) => T {
  return (...given) => runAtOnce(work(...given));
}
