import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Where Linux has a file system in memory. */
const IN_MEMORY = '/dev/shm';

/** In containers it often has 64 MiB. */
const NEEDED_BYTES = 2 ** 31;

/**
 * Where tests have their data directories and test servers their databases: in memory if there is room, because they
 * are made and removed with every test file.
 */
export function memoryDirectory(): string {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= NEEDED_BYTES ? IN_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
