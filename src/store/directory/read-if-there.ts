import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { DataDirectoryProblem } from './data-directory-problem.ts';

/** Files of the data directory are small, unless they say otherwise. */
const SMALL_FILE_BYTES = 65_536;

/** The content of a file; undefined when there is none. Throws a DataDirectoryProblem that names it, also above `maxBytes`. */
export function readIfThere(file: string, maxBytes = SMALL_FILE_BYTES): Buffer | undefined {
  try {
    return readRegular(file, maxBytes);
  } catch (error) {
    if (error instanceof DataDirectoryProblem) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw problemOf(file, `cannot be read (${code})`, error);
  }
}

function readRegular(file: string, maxBytes: number): Buffer {
  // Whoever opens a FIFO without this waits for somebody to write.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw problemOf(file, 'is not a file');
    if (stats.size > maxBytes) throw problemOf(file, `is larger than ${maxBytes} bytes`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function problemOf(file: string, problem: string, cause?: unknown): DataDirectoryProblem {
  return new DataDirectoryProblem(`${file} ${problem}; put the right file back from a backup`, false, cause);
}
