/** Bucket bounds of durations, seconds: from the gateway's own overhead to the length of a whole answer. */
export const DURATION_BOUNDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
];
