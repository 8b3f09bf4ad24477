import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory (0700), and its parents if need be. True when it was not there before. Node's own recursive way tries
 * for ever where a file system has directories but lets none be made, as /proc does.
 */
export function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return false;
    const parent = dirname(path);
    if (code !== 'ENOENT' || statSync(parent, { throwIfNoEntry: false }) !== undefined) throw error;
    makeDirectory(parent);
    mkdirSync(path, { mode: 0o700 });
    return true;
  }
}
