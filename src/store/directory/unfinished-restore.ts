import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataDirectoryProblem } from './data-directory-problem.ts';

/** In a data directory while a backup is being copied into it. */
export const UNFINISHED_RESTORE_FILE = 'restore-unfinished';

/** Throws a DataDirectoryProblem for a directory that does not have the whole backup. */
export function assertRestored(path: string): void {
  if (!existsSync(join(path, UNFINISHED_RESTORE_FILE))) return;
  throw new DataDirectoryProblem(
    `the restore into ${path} was cut off, so it has only part of the backup; run signalbox restore again`,
    false,
  );
}
