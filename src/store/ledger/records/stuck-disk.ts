import type { DiskWaits } from '../../../ports/money/journal.ts';

/** A disk that has not answered for this long is stuck: new generations are refused at once instead of waiting. */
const STUCK_MS = 2_000;

/** Whether no new generation may begin, because the disk has not answered for long. */
export function isStuck({ waitingMs }: DiskWaits): boolean {
  return waitingMs >= STUCK_MS;
}
