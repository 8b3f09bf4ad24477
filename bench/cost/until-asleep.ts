import { readdirSync, readFileSync } from 'node:fs';

const LOOKS_BEFORE_PAUSES = 30;

/**
 * Waits until no thread of the processes runs, waits for a core or for a disk. Looks at the scheduler's own account
 * instead of the clock, so that a process that gets no core counts as busy however long that takes.
 */
export async function untilAsleep(pids: readonly number[]): Promise<void> {
  let before: string | undefined;
  for (let look = 0; ; look++) {
    const now = pids.map(turnsIfAsleep).join();
    if (!now.includes(AWAKE) && now === before) return;
    before = now;
    await new Promise<void>((resolved) => {
      if (look < LOOKS_BEFORE_PAUSES) setImmediate(resolved);
      else setTimeout(resolved, 1);
    });
  }
}

const AWAKE = 'awake';

/** How often each thread has had a core, or `awake`. */
function turnsIfAsleep(pid: number): string {
  const threads = `/proc/${pid}/task`;
  let turns = '';
  try {
    for (const thread of readdirSync(threads)) {
      const stat = readFileSync(`${threads}/${thread}/stat`, 'latin1');
      if (stat[stat.lastIndexOf(')') + 2] !== 'S') return AWAKE;
      turns += `${thread} ${readFileSync(`${threads}/${thread}/schedstat`, 'latin1').split(' ')[2]}`;
    }
  } catch {
    return AWAKE; // A thread has ended meanwhile.
  }
  return turns;
}
