/**
 * Random cases of one test: `few` in the suite, `many` in `npm run test:laws`, which sets the variable. Every case has
 * a seed, so that one that fails can be repeated.
 */
export function runs(few: number, many: number): number {
  return process.env.SIGNALBOX_MANY_RUNS === undefined ? few : many;
}
