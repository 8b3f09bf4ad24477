import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { codeOf } from '../sql/database-unavailable.ts';

const REMOVE = 'remove what was written there, and make room or name a directory on another disk';

/** What is wrong with a disk, and what to do, by error code of the system or of SQLite. */
const DISK_PROBLEMS: Readonly<Record<string, readonly [problem: string, advice: string]>> = {
  ENOSPC: ['is full', REMOVE],
  SQLITE_FULL: ['is full', REMOVE],
  EDQUOT: ['has no room left within the quota of this user', REMOVE],
  EROFS: ['is read-only', 'mount it writable or name a directory on another disk'],
};

export function isTargetFull(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_FULL';
}

/** Maps errors of a full or read-only disk to DataDirectoryProblems that name the target; others stay as they are. */
export function targetProblem(target: string, error: unknown): unknown {
  const [problem, advice] = DISK_PROBLEMS[codeOf(error)] ?? [];
  if (problem === undefined) return error;
  return new DataDirectoryProblem(
    `the backup cannot be written: the disk of ${target} ${problem} (${codeOf(error)}); ${advice}`,
    false,
    error,
  );
}
