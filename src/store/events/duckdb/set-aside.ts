import { rename } from 'node:fs/promises';

/** Renames a damaged file and its log. Resolves with the new name. */
export async function setAside(file: string): Promise<string> {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const to = `${file}.damaged-${time}`;
  for (const part of ['.wal', '']) {
    await rename(`${file}${part}`, `${to}${part}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  return to;
}
