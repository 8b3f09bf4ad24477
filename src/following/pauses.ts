/** Pause after the first failure, milliseconds; each further one doubles it. */
const FIRST_MS = 1_000;

/** The longest pause, milliseconds: what waits is sent soon after a destination is back. */
const LONGEST_MS = 30_000;

/** The longest pause that a destination may ask for, milliseconds. */
const LONGEST_ASKED_MS = 3_600_000;

/**
 * Milliseconds until a follower is tried again after so many failures in a row: between half and all of a pause that
 * doubles, or what it asked for. `random`: 0 <= number < 1, so that gateways and followers do not keep in step.
 */
export function pauseMs(failures: number, askedMs: number | undefined, random: () => number): number {
  if (askedMs !== undefined) return Math.min(Math.max(askedMs, FIRST_MS), LONGEST_ASKED_MS);
  return Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 10), LONGEST_MS) * (0.5 + random() / 2);
}
