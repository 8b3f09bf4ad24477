import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DataDirectoryProblem } from './data-directory-problem.ts';

/**
 * Creates a directory (0700) and its missing parents. True when it did not exist. Node's recursive `mkdir` never
 * returns on file systems that refuse new directories, such as /proc.
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

/** Replaces a file (0600) atomically and durably: after a power loss it has the old content or the new one. */
export function replaceFile(file: string, content: Buffer | string): void {
  const draft = `${file}.draft`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
  syncDirectoryNow(dirname(file));
}

function syncDirectoryNow(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes created, renamed and removed names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Default size limit: most files of a data directory are small. */
const SMALL_FILE_BYTES = 65_536;

/**
 * The content of a file; undefined when there is none. Throws a DataDirectoryProblem, also for more than `maxBytes`.
 */
export function readIfExists(file: string, maxBytes = SMALL_FILE_BYTES): Buffer | undefined {
  try {
    return readRegular(file, maxBytes);
  } catch (error) {
    if (error instanceof DataDirectoryProblem) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const advice = code === 'EACCES' || code === 'EPERM' ? OWN_FILE : PUT_BACK;
    throw problemOf(file, `cannot be read (${code})`, error, advice);
  }
}

function readRegular(file: string, maxBytes: number): Buffer {
  // Without O_NONBLOCK opening a FIFO blocks until it has a writer.
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

const PUT_BACK = 'put the right file back from a backup';
const OWN_FILE = 'give it to the user that runs the gateway';

function problemOf(file: string, problem: string, cause?: unknown, advice = PUT_BACK): DataDirectoryProblem {
  return new DataDirectoryProblem(`${file} ${problem}; ${advice}`, false, cause);
}
