/** The shortest of several runs, in milliseconds: other processes on the machine lengthen runs, never all of them. */
export function leastMs(run: () => void, times = 7): number {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < times; time++) {
    const began = performance.now();
    run();
    least = Math.min(least, performance.now() - began);
  }
  return least;
}
