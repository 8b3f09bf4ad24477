import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Nanoseconds of processor time that all threads of a process have used, by the scheduler's own account. */
export function processorTime(pid: number): number {
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).reduce((sum, thread) => sum + timeOf(`${threads}/${thread}/schedstat`), 0);
}

function timeOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]);
  } catch {
    return 0; // The thread has ended meanwhile.
  }
}

/** Bytes of a process that are in memory. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

const LOOK_MS = 100;
const QUIET_SHARE = 0.04;
const MAX_LOOKS = 30;

/** Waits until a process has done what it put off, so that work in the background counts where it was caused. */
export async function untilQuiet(pid: number): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    const before = processorTime(pid);
    await sleep(LOOK_MS);
    if (processorTime(pid) - before < LOOK_MS * 1e6 * QUIET_SHARE) return;
  }
}
