import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Where a process runs: `tested` is alone on its core, everything else is on the other. */
export type Place = 'tested' | 'driving';

/** The core of each place; absent = processes cannot be pinned; `why` has the reason. */
export interface Pinning {
  readonly cores?: Readonly<Record<Place, number>>;
  readonly why?: string;
}

/** Finds two cores that this process may use, and pins it to the driving one. */
export function findPinning(): Pinning {
  const allowed = allowedCores();
  if (allowed.length < 2) return { why: 'there are not two cores to use' };
  if (spawnSync('taskset', ['--version']).status !== 0) return { why: 'there is no taskset' };
  const cores = { driving: allowed[0]!, tested: allowed[1]! };
  spawnSync('taskset', ['-a', '-cp', String(cores.driving), String(process.pid)]);
  return { cores };
}

/** The command line that starts a program at its place. */
export function pinnedCommand({ cores }: Pinning, place: Place, command: readonly string[]): string[] {
  return cores === undefined ? [...command] : ['taskset', '-c', String(cores[place]), ...command];
}

/** Like `0-1,4` in the system's own words. */
function allowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readStatus())?.[1] ?? '';
  return list.split(',').flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number);
    return Number.isNaN(first) ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

function readStatus(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    return '';
  }
}
