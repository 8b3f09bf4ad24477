import { open } from 'node:fs/promises';

/** A name is made, changed or gone for good once its directory is on the disk. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
